"""DLL210 lmdb-lock-in-workers

## What it does

Reports an LMDB environment that worker code opens with its lock file on (`lock=True`, the default) and keeps open.
Environments that worker code writes to need their lock; those that are closed again in the same function, or that have
room for 512 readers and more, are fine.

## Why it breaks workers

The lock file of an environment has 126 slots for readers. Up to py-lmdb 1.6 every process that has read from it holds
one as long as it keeps the environment open, from 1.7.5 on as long as it keeps a transaction. A node with eight ranks
of 16 workers each has more: the next one ends with `lmdb.ReadersFullError: mdb_txn_begin: MDB_READERS_FULL: Environment
maxreaders limit reached`. On storage that is mounted read-only the lock file cannot be made at all.

## Example

```python
import lmdb
from torch.utils.data import Dataset


class Records(Dataset):
    def __init__(self, path, total):
        self.path, self.total = path, total
        self.env = None

    def __len__(self):
        return self.total

    def __getitem__(self, i):
        if self.env is None:
            self.env = lmdb.open(self.path, readonly=True)
        with self.env.begin() as txn:
            return txn.get(str(i).encode())
```

## Use instead

```python
import lmdb
from torch.utils.data import Dataset


class Records(Dataset):
    def __init__(self, path, total):
        self.path, self.total = path, total
        self.env = None

    def __len__(self):
        return self.total

    def __getitem__(self, i):
        if self.env is None:
            self.env = lmdb.open(self.path, readonly=True, lock=False)
        with self.env.begin() as txn:
            return txn.get(str(i).encode())
```

## When to ignore

When another process writes to the database while the workers read it, and all workers of a machine together are fewer
than 126.

## References

- Measured with py-lmdb 3.0: of 140 processes that keep one transaction open, the 127th and all after it fail
- https://lmdb.readthedocs.io/en/release/#environment-class
- https://github.com/pytorch/pytorch/issues/78987
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.facts import WorkerEntry
from dllint.code.handles.opened import is_closed_at_once
from dllint.code.language.arguments import Arguments, collect
from dllint.code.language.values import Const
from dllint.code.workers.reach import WorkerCode
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL210",
    name="lmdb-lock-in-workers",
    severity=Severity.WARNING,
    failure=Failure.STALL,
    since="0.1",
    basis=proven(),
    replaced_by=("DLL201", "DLL202"),
)

_OPENS = frozenset({"lmdb.open", "lmdb.Environment"})
_ENOUGH_READERS = 512


@RULE.check
def lmdb_lock_in_workers(entry: WorkerEntry) -> Iterator[Finding]:
    """Yield the environments that worker code opens for reading with their lock file on."""
    if not entry.start_methods:
        return
    for step, call, _ in entry.code.library_calls(_OPENS):
        options = collect(entry.program.evaluator, call, step.frame)
        if not _takes_few_slots(entry, options) or is_closed_at_once(call) or _writes(entry.code):
            continue
        yield RULE.finding(
            step.scope.module.location(call),
            "each worker keeps one of the 126 reader slots of this database's lock file: MDB_READERS_FULL once all "
            "workers on the machine are more",
            help="open it with readonly=True, lock=False in workers that only read",
            related=entry.way(step),
            symbol=step.scope.qualname,
            evidence="lock",
        )


def _takes_few_slots(entry: WorkerEntry, options: Arguments) -> bool:
    """Whether the lock is certainly on, with no more reader slots than usual."""
    ev = entry.program.evaluator
    if options.open or len(options.positional) > 1 + _BEFORE_LOCK:
        return False
    lock, readers = options.named.get("lock"), options.named.get("max_readers")
    if lock is not None and not all(isinstance(v, Const) and v.value is True for v in lock.values(ev)):
        return False
    if readers is None:
        return True
    return all(isinstance(v, Const) and _is_few(v.value) for v in readers.values(ev))


_BEFORE_LOCK = 11
"""Parameters of lmdb.open between the path and max_readers: who passes that many by position is not read."""


def _is_few(readers: object) -> bool:
    return isinstance(readers, int) and readers < _ENOUGH_READERS


def _writes(code: WorkerCode) -> bool:
    """Whether worker code opens a transaction that writes: then the lock is needed."""
    return any(_is_write(call) for _, call in code.calls())


def _is_write(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "begin":
        return False
    return any(k.arg == "write" and not _is_false(k.value) for k in call.keywords)


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False
