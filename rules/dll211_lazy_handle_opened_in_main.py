"""DLL211 lazy-handle-opened-in-main

## What it does

Reports a handle that a dataset opens on first use, where main itself reads the dataset before the workers start: an
item, a loop over it, or a length that opens the file. What a `cached_property` or a function under `lru_cache` opens is
such a handle too. Handles that are opened again in each process (a test of `os.getpid()` by `or`: by `and` it lets
nobody open who has inherited a file), let go of by `os.register_at_fork`, opened in `worker_init_fn`, or for each item
are fine. Where workers are certainly spawned the test is not
enough, and such handles are reported too: there `__getstate__` has to drop what main has opened.

## Why it breaks workers

What was opened lazily to keep it out of the fork is open by then after all, and all workers share it, as with DLL201:
30 of 30,720 records came from wrong places, without an error. What survives a fork (h5py, SQLite) cannot be pickled for
spawned workers: `TypeError: h5py objects cannot be pickled`, though only because somebody looked at an item.

## Example

```python
from torch.utils.data import DataLoader, Dataset


class Records(Dataset):
    def __init__(self, path, size, total):
        self.path, self.size, self.total = path, size, total
        self.file = None

    def __len__(self):
        return self.total

    def __getitem__(self, i):
        if self.file is None:
            self.file = open(self.path, "rb")
        self.file.seek(i * self.size)
        return self.file.read(self.size)


def load(path):
    records = Records(path, 512, 1000)
    print(len(records[0]))
    return DataLoader(records, num_workers=4)
```

## Use instead

```python
import os

from torch.utils.data import DataLoader, Dataset


class Records(Dataset):
    def __init__(self, path, size, total):
        self.path, self.size, self.total = path, size, total
        self.file, self.pid = None, None

    def __getstate__(self):
        return {**self.__dict__, "file": None, "pid": None}

    def __len__(self):
        return self.total

    def __getitem__(self, i):
        if self.pid != os.getpid():
            self.file, self.pid = open(self.path, "rb"), os.getpid()
        self.file.seek(i * self.size)
        return self.file.read(self.size)


def load(path):
    records = Records(path, 512, 1000)
    print(len(records[0]))
    return DataLoader(records, num_workers=4)
```

## When to ignore

When the handle is closed again before the workers start, in a way that does not show in the source.

## References

- Measured on torch 2.13, eight forked workers: 30 of 30,720 reads wrong after one `dataset[0]` in main, 0 with the test
- https://github.com/pytorch/pytorch/issues/11929
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.facts import WorkerEntry
from dllint.code.handles import lazy_handles
from dllint.code.handles.lazy_handles import Lazy
from dllint.code.workers import state
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL211",
    name="lazy-handle-opened-in-main",
    severity=Severity.WARNING,
    failure=Failure.STALL,
    since="0.1",
    basis=proven("fork", "spawn", "forkserver"),
    replaced_by=("DLL201",),
)

_NOT_SENT = "with each process asking for its own it still cannot be pickled for spawned workers"


@RULE.check
def lazy_handle_opened_in_main(entry: WorkerEntry) -> Iterator[Finding]:
    """Yield the handles that a dataset opens on first use, if that use is main's."""
    if entry.dataset is None:
        return
    for lazy in lazy_handles.opened(entry):
        use = lazy_handles.used_by_main(entry, lazy) if _is_harmed(entry, lazy) else None
        if use is None:
            continue
        harm = _NOT_SENT if lazy.by_process else lazy.handle.api.harm
        yield RULE.finding(
            lazy.handle.location,
            f"{lazy.handle.call}() is opened on first use, and main is the first to use it: {harm}",
            help="open it again in each process (if self.pid != os.getpid(): ...); for spawn, drop it in __getstate__",
            related=[use.related(), use.loader.related(), *lazy.step.way()],
            symbol=lazy.step.scope.qualname,
            evidence=lazy.attribute,
        )


def _is_harmed(entry: WorkerEntry, lazy: Lazy) -> bool:
    """Whether sharing or pickling does this kind of handle harm."""
    api = lazy.handle.api
    if not api.mild and entry.may_fork and not lazy.by_process:
        return True
    if lazy.by_process and entry.may_fork:
        return False  # right for forked workers, and spawned ones are not certain
    receiver = lazy.step.frame.receiver
    owner = receiver.cls if receiver is not None else lazy.step.scope.owner
    dropped = owner is not None and state.drops(entry.program, owner, lazy.attribute)
    return entry.may_pickle and lazy.carried and not dropped
