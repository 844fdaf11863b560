"""DLL202 handle-at-module-level

## What it does

Reports a file, archive, database or socket that a module opens when it is imported and that worker code uses.

## Why it breaks workers

As DLL201: forked workers share one file position or connection (35 to 217 wrong of 30,720 reads; archives raise
`zipfile.BadZipFile: Bad CRC-32 for file`). With spawn each worker imports the module again and opens its own; with
forkserver from Python 3.13.8 and 3.14.1 on the main module is loaded before the fork, so the handle is shared again.

## Example

```python
from torch.utils.data import Dataset

RECORDS = open("records.bin", "rb")


class Records(Dataset):
    def __len__(self):
        return 1000

    def __getitem__(self, i):
        RECORDS.seek(i * 512)
        return RECORDS.read(512)
```

## Use instead

```python
import functools
import os

from torch.utils.data import Dataset


@functools.lru_cache(maxsize=1)
def records(pid):
    return open("records.bin", "rb")


class Records(Dataset):
    def __len__(self):
        return 1000

    def __getitem__(self, i):
        file = records(os.getpid())
        file.seek(i * 512)
        return file.read(512)
```

## When to ignore

When the workers are always spawned, in a way that does not show in the source.

## References

- Measured on torch 2.13, 8 forked workers
- https://github.com/python/cpython/pull/141859
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.facts import WorkerEntry
from dllint.code.handles import opened as handles
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL202",
    name="handle-at-module-level",
    severity=Severity.ERROR,
    failure=Failure.STALL,
    since="0.1",
    basis=proven("fork"),
)


@RULE.check
def handle_at_module_level(entry: WorkerEntry) -> Iterator[Finding]:
    """Yield the module-level handles that worker code uses."""
    if not entry.start_methods - {"spawn"}:
        return
    yield from _of_classes(entry)
    for step in entry.code.steps:
        for name, handle in handles.at_module_level(entry.program, step.scope.module):
            use = step.scope.read_of_global(name)
            if use is None or handle.api.mild or (handle.is_guarded and "fork" not in entry.start_methods):
                continue
            yield RULE.finding(
                handle.location,
                f"{handle.call}() at module level is shared by forked workers: {handle.api.harm}",
                help="open it on first use in each process, keyed by os.getpid()",
                related=[*entry.way(step), Related(f"{name} used in a worker here", step.scope.module.location(use))],
                symbol=step.scope.module.name,
                evidence=name,
            )


def _of_classes(entry: WorkerEntry) -> Iterator[Finding]:
    """The handles that the body of a class opens: it runs when the module is imported, and pickle leaves them out."""
    for module in {step.scope.module: None for step in entry.code.steps}:
        for cls, name, handle in handles.at_class_level(entry.program, module):
            read = next(entry.code.reads(cls, name), None)
            if read is None or handle.api.mild or any(w.name == name for s in entry.code.steps for w in s.scope.writes):
                continue
            step, node = read
            yield RULE.finding(
                handle.location,
                f"{handle.call}() in the body of a class is shared by forked workers: {handle.api.harm}",
                help="open it on first use in each process, keyed by os.getpid()",
                related=[
                    *entry.way(step),
                    Related(f"{name} used in a worker here", step.scope.module.location(node)),
                ],
                symbol=cls.qualname,
                evidence=name,
            )
