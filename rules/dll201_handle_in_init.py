"""DLL201 handle-in-init

## What it does

Reports a file, archive, database, video or socket that a dataset opens in its `__init__` (or in what that builds or
calls), keeps, and reads in worker code. Objects taken from such a handle count as well. Memory maps, `BytesIO`, files
that are opened lazily in the worker, and handles that are closed before `__init__` ends are fine.

## Why it breaks workers

Forked workers share one file position with each other: records come from wrong places, without an error (17 to 171 of
30,720 reads with plain files, 92 % with gzip), archives raise `zipfile.BadZipFile: Bad magic number for file header`
or `Bad CRC-32 for file`, connections read one another's answers. HDF5 1.12 and newer, SQLite and LMDB without its
lock survive the fork, but cannot be pickled: they fail under spawn and forkserver, the Linux default from Python 3.14
(`TypeError: h5py objects cannot be pickled`). For these the finding is a warning.

## Example

```python
from torch.utils.data import Dataset


class Records(Dataset):
    def __init__(self, path, size, total):
        self.file = open(path, "rb")
        self.size, self.total = size, total

    def __len__(self):
        return self.total

    def __getitem__(self, i):
        self.file.seek(i * self.size)
        return self.file.read(self.size)
```

## Use instead

```python
import os

from torch.utils.data import Dataset


class Records(Dataset):
    def __init__(self, path, size, total):
        self.path, self.size, self.total = path, size, total
        self.file, self.pid = None, None

    def __len__(self):
        return self.total

    def __getitem__(self, i):
        if self.pid != os.getpid():
            self.file, self.pid = open(self.path, "rb"), os.getpid()
        self.file.seek(i * self.size)
        return self.file.read(self.size)
```

## When to ignore

When the dataset is only ever read with `num_workers=0`, in a way that does not show in the source. A `__getstate__`
that drops the handle cures spawn and forkserver, not fork.

## References

- Measured on torch 2.13, 8 workers, 30,720 reads for each kind of handle
- https://github.com/pytorch/pytorch/issues/11929 and https://github.com/pytorch/pytorch/issues/1919
- https://github.com/baudm/parseq/issues/6
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dllint.basis import proven
from dllint.code import apis
from dllint.code.facts import WorkerEntry
from dllint.code.handles import opened as handles
from dllint.code.handles.opened import Handle
from dllint.code.language.links import parent
from dllint.code.language.scopes import last_name
from dllint.code.workers import state
from dllint.code.workers.state import Item
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL201",
    name="handle-in-init",
    severity=Severity.ERROR,
    failure=Failure.STALL,
    since="0.1",
    basis=proven("fork", "spawn", "forkserver"),
)


_KNOWN_BEFORE = frozenset(
    {"name", "closed", "mode", "encoding", "filename", "files", "namelist", "infolist", "getinfo"}
)
"""What a handle knows since it was opened."""
_READ_BY_NUMBER = frozenset({"pread", "preadv", "fstat", "mmap"})


@RULE.check
def handle_in_init(entry: WorkerEntry) -> Iterator[Finding]:
    """Yield the handles that a dataset, or a collate object, carries over into its workers."""
    if not entry.start_methods:
        return
    for item in entry.items:
        handle = handles.handle_of(entry.program, item.value) or handles.by_use(entry.code, item)
        if handle is None:
            continue
        severity = _severity(entry, item, handle)
        read = state.read_in_worker(entry.code, item)
        if severity is None or read is None or _is_never_moved(entry, item):
            continue
        step, node = read
        yield RULE.finding(
            handle.location,
            f"{handle.call}() is opened before the workers start, and {entry.name} carries it into them: "
            f"{handle.api.harm}",
            help="keep the path, and open on first use in each process: if self.pid != os.getpid(): ...",
            related=[
                Related(f"kept as {item.path}", item.frame.scope.module.location(item.write.node)),
                *entry.way(step),
                Related("read in a worker here", step.scope.module.location(node)),
            ],
            severity=severity,
            symbol=item.owner.qualname,
            evidence=item.path,
        )


def _is_never_moved(entry: WorkerEntry, item: Item) -> bool:
    """Whether workers ask for nothing that moves the file's position: names, what the directory of an archive says, or
    `os.pread`. What spawn makes of such a handle is DLL502's."""
    return all(_keeps_position(node) for _, node in entry.code.reads(item.owner, item.attribute))


def _keeps_position(node: ast.Attribute) -> bool:
    asked = parent(node)
    if not isinstance(asked, ast.Attribute):
        return False
    around = parent(asked)
    taker = parent(around) if around is not None else None
    if asked.attr == "fileno":
        return taker is not None and last_name(taker) in _READ_BY_NUMBER
    return asked.attr in _KNOWN_BEFORE


def _severity(entry: WorkerEntry, item: Item, handle: Handle) -> Severity | None:
    """By what the start methods do to this kind of handle; None if it is harmless."""
    is_session = handle.opened.name in apis.SESSIONS
    pickled = entry.may_pickle and not is_session and not entry.drops(item)
    if not handle.api.mild and entry.may_fork:
        return Severity.ERROR
    if not pickled:
        return None
    return Severity.WARNING if handle.api.mild and entry.may_fork else Severity.ERROR
