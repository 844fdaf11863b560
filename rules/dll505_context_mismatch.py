"""DLL505 context-mismatch

## What it does

Reports a `Value`, `Array`, `Lock`, `Event`, `Queue` or the like of multiprocessing that is made under fork (by the
default context where that may be fork, or by `get_context("fork")`) and kept on a dataset or collate object whose
loader spawns its workers. Objects of a spawn context go to every kind of worker, and `RawValue`,
`Value(lock=False)`, pipes and managers hold no lock.

## Why it breaks workers

A lock that was made for forked processes has no name that a spawned one could open: `RuntimeError: A SemLock created
in a fork context is being shared with a process in a spawn context. This is not supported. Please use the same context
to create multiprocessing objects and Process.` Older Pythons crash instead.

## Example

```python
import multiprocessing

from torch.utils.data import DataLoader, Dataset


class Staged(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.stage = multiprocessing.Value("i", 0)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i] * self.stage.value


def load(rows):
    return DataLoader(Staged(rows), num_workers=2, multiprocessing_context="spawn")
```

## Use instead

```python
import multiprocessing

from torch.utils.data import DataLoader, Dataset


class Staged(Dataset):
    def __init__(self, rows, context):
        self.rows = rows
        self.stage = context.Value("i", 0)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i] * self.stage.value


def load(rows):
    context = multiprocessing.get_context("spawn")
    return DataLoader(Staged(rows, context), num_workers=2, multiprocessing_context=context)
```

## When to ignore

When the program runs only where spawn is the default anyway: set `platforms` to what it runs on.

## References

- https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods
- https://github.com/pytorch/pytorch/issues/105514
- 14 kinds of objects and all pairs of contexts, run on torch 2.13 and Python 3.11
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.facts import WorkerEntry
from dllint.code.processes import synchronized
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL505",
    name="context-mismatch",
    severity=Severity.ERROR,
    failure=Failure.START_UP,
    since="0.1",
    basis=proven("fork"),
)


@RULE.check
def context_mismatch(entry: WorkerEntry) -> Iterator[Finding]:
    """Yield the locks and queues of one context that a loader sends to workers of another."""
    for found in synchronized.mismatches(entry):
        item = found.item
        context = "the default context, which may be fork" if found.by_default else 'get_context("fork")'
        yield RULE.finding(
            found.location,
            f"{found.name} is made by {context}, but the loader spawns its workers: "
            "RuntimeError: A SemLock created in a fork context is being shared with a process in a spawn context",
            help="make it by the context that the loader gets: multiprocessing.get_context(...)."
            + f"{found.name}(...)",
            related=[
                Related(f"kept as {item.path}", item.frame.scope.module.location(item.write.node)),
                Related("spawned by this loader", found.loader.where("multiprocessing_context")),
            ],
            symbol=item.owner.qualname,
            evidence=item.path,
        )
