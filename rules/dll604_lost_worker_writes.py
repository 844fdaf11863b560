"""DLL604 lost-worker-writes

## What it does

Reports what worker code writes to an attribute or a global and main code reads back: a counter of broken files, a list
of what was seen, a cache whose size is printed. Shared tensors, `multiprocessing.Value`, manager objects and memory
maps are fine, and so is what only workers use.

## Why it breaks workers

Each worker has a copy of the dataset and of every module. What it writes stays in its copy and dies with it: the main
process reads what it had before (torch 2.13: 0 of 8 counted with workers, 8 without), and never finds out.

## Example

```python
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, rows):
        self.rows, self.broken = rows, 0

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        if self.rows[i] < 0:
            self.broken += 1
        return abs(self.rows[i])


def count(rows):
    data = Rows(rows)
    total = sum(x.sum() for x in DataLoader(data, num_workers=2))
    print(total, data.broken)
```

## Use instead

```python
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return abs(self.rows[i]), self.rows[i] < 0


def count(rows):
    total = broken = 0
    for x, is_broken in DataLoader(Rows(rows), num_workers=2):
        total += x.sum()
        broken += int(is_broken.sum())
    print(total, broken)
```

## When to ignore

When the value that main had before the workers started is what is wanted.

## References

- https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading
- https://docs.python.org/3/library/multiprocessing.html#sharing-state-between-processes
- Run on torch 2.13: a plain counter stays 0, a tensor after share_memory_() counts right
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.facts import WorkerEntry
from dllint.code.workers import lost_writes
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL604",
    name="lost-worker-writes",
    severity=Severity.WARNING,
    failure=Failure.WRONG_SAMPLES,
    since="0.1",
    basis=proven(),
)


@RULE.check
def lost_worker_writes(entry: WorkerEntry) -> Iterator[Finding]:
    """Yield the writes of workers that main reads back and will not find."""
    for write, read in lost_writes.lost(entry):
        yield RULE.finding(
            write.location,
            f"{write.text} is written in a worker, to a copy that dies with it; main reads its own, as it was before",
            help="return it with the sample and add it up in the loop, or keep it in a tensor after share_memory_()",
            related=[*entry.way(write.step), Related("main reads it back here", read.location)],
            symbol=write.step.scope.qualname,
            evidence=write.text,
        )
