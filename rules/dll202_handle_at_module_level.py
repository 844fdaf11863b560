"""DLL202 handle-at-module-level

## What it does

Reports a file, archive, database or socket that worker code reads under a name of a module or class: opened when the
module is imported, by the script, or by a function of main that sets the name (`global records`). What is opened on
first use is reported where main is the first; what main closes, or replaces, before the workers start is not.

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

import ast
from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.facts import WorkerEntry
from dllint.code.handles import shared_names
from dllint.code.handles.shared_names import Shared
from dllint.code.workers.reach import Step
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
    """Yield the handles of modules and classes that worker code uses."""
    if not entry.start_methods - {"spawn"}:
        return
    for shared, step, read in shared_names.read_in(entry):
        if not shared.handle.api.mild:
            yield _finding(entry, shared, step, read, _where(shared, "at module level"), step.scope.module.name)
    for shared, step, read, cls in shared_names.read_of_classes(entry):
        if not shared.handle.api.mild:
            yield _finding(entry, shared, step, read, _where(shared, "in the body of a class"), cls.qualname)


def _where(shared: Shared, at_import: str) -> str:
    return at_import if shared.setter is None else "in main, under a name that workers read,"


def _finding(entry: WorkerEntry, shared: Shared, step: Step, read: ast.AST, where: str, symbol: str) -> Finding:
    handle, used = shared.handle, shared_names.first_use(entry, shared)
    return RULE.finding(
        handle.location,
        f"{handle.call}() {where} is shared by forked workers: {handle.api.harm}",
        help="open it on first use in each process, keyed by os.getpid()",
        related=[
            *([used.related()] if used is not None else []),
            *entry.way(step),
            Related(f"{shared.name} used in a worker here", step.scope.module.location(read)),
        ],
        symbol=symbol,
        evidence=shared.name,
    )
