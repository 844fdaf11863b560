"""DLL506 unpicklable-exception

## What it does

Reports an exception class that is defined in a function and raised in worker code. Its class statement is what has to
move; exceptions that are caught before they leave the worker, and classes at module level or within a class, are fine.

## Why it breaks workers

A worker sends an exception to the main process by pickling its class. A class within a function has no importable
name: the queue's feeder thread prints `AttributeError: Can't pickle local object` and drops the message, and the main
process waits for ever for a batch that never comes. So one broken file stops the training without an error.

## Example

```python
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        class BadRow(Exception):
            pass

        if not self.rows[i]:
            raise BadRow(i)
        return self.rows[i]


def load(rows):
    return DataLoader(Rows(rows), num_workers=2)
```

## Use instead

```python
from torch.utils.data import DataLoader, Dataset


class BadRow(Exception):
    pass


class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        if not self.rows[i]:
            raise BadRow(i)
        return self.rows[i]


def load(rows):
    return DataLoader(Rows(rows), num_workers=2)
```

## When to ignore

When the exception cannot happen in a worker. Exceptions whose constructor needs more than a message are no such case:
torch sends their class and their text, and raises a RuntimeError with that text (torch 2.13, run).

## References

- torch 2.13, `torch/_utils.py`, ExceptionWrapper; run with fork and spawn: a local class hangs, all others arrive
- https://github.com/safetensors/safetensors/issues/492
- https://docs.python.org/3/library/pickle.html#what-can-be-pickled-and-unpickled
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.facts import WorkerEntry
from dllint.code.processes import pickling
from dllint.code.workers import exceptions
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL506",
    name="unpicklable-exception",
    severity=Severity.ERROR,
    failure=Failure.STALL,
    since="0.1",
    basis=proven("fork", "spawn"),
)


@RULE.check
def unpicklable_exception(entry: WorkerEntry) -> Iterator[Finding]:
    """Yield the exception classes that worker code raises and that no pickle can name."""
    if not entry.start_methods:
        return
    for step in entry.code.steps:
        for node, cls in exceptions.raised(entry.program, step):
            if not pickling.is_local(cls):
                continue
            yield RULE.finding(
                cls.module.location(cls.node),
                f"{cls.name} is raised in a worker, but pickle cannot name a class defined in a function "
                f"({pickling.error_of(cls)}): the main process waits for ever",
                help="define the exception at module level",
                related=[*entry.way(step), Related("raised here", step.scope.module.location(node))],
                symbol=cls.qualname,
                evidence=cls.name,
            )
