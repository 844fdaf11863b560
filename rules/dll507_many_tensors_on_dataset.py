"""DLL507 many-tensors-on-dataset

## What it does

Reports a dataset that carries more than 245 tensors with storages of their own into workers that forkserver may start:
a list with a tensor for each sample, or a model. One stacked tensor, views on it, NumPy arrays, what `__getstate__`
drops, and the file_system strategy are fine.

## Why it breaks workers

Forkserver passes the descriptors of all these storages in one message, which takes 256 at the most. With 247 the start
of the workers ends in `EOFError`, with 249 and more in `ValueError: too many fds`, whatever `ulimit -n` says.
Forkserver is the default on Linux from Python 3.14. Spawn passes one descriptor each and fails at the limit of open
files.

## Example

```python
import torch
from torch.utils.data import Dataset


class Curves(Dataset):
    def __init__(self, rows):
        self.curves = [torch.tensor(row) for row in rows]

    def __len__(self):
        return len(self.curves)

    def __getitem__(self, i):
        return self.curves[i]
```

## Use instead

```python
import torch
from torch.utils.data import Dataset


class Curves(Dataset):
    def __init__(self, rows):
        self.values = torch.tensor([value for row in rows for value in row])
        self.ends = torch.tensor([len(row) for row in rows]).cumsum(0)

    def __len__(self):
        return len(self.ends)

    def __getitem__(self, i):
        start = self.ends[i - 1] if i else 0
        return self.values[start : self.ends[i]]
```

## When to ignore

When the data set has fewer than 245 samples, or workers are never started by forkserver: set `platforms`,
`target-python` or `start-method`.

## References

- Measured on torch 2.13: 245 storages pass, 249 fail; a model with 280 tensors in its state fails too
- https://docs.python.org/3/whatsnew/3.14.html
- https://github.com/python/cpython/blob/3.14/Lib/multiprocessing/forkserver.py (MAXFDS_TO_SEND)
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.facts import WorkerEntry
from dllint.code.tensors import storages
from dllint.code.tensors.storages import Storages
from dllint.code.workers import asked_for, picking
from dllint.code.workers.state import Item
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL507",
    name="many-tensors-on-dataset",
    severity=Severity.WARNING,
    failure=Failure.START_UP,
    since="0.1",
    basis=proven("forkserver"),
)

_MOST = 245


@RULE.check
def many_tensors_on_dataset(entry: WorkerEntry) -> Iterator[Finding]:
    """Yield the statement that brings a dataset over the number of storages that forkserver passes on."""
    if "forkserver" not in entry.start_methods or entry.program.facts.has_room_for_descriptors:
        return
    for dataset in entry.plain_datasets():
        for found in storages.of_value(entry.program, dataset):
            if found.total is None or found.total > _MOST:
                yield _finding(entry, found, None)
    total = 0
    for item in entry.items:
        for found in _carried(entry, item):
            if found.total is None and not _is_per_sample(entry, item):
                continue
            total += found.total or 0
            if found.total is None or total > _MOST:
                yield _finding(entry, found, item)
                total = 0


def _carried(entry: WorkerEntry, item: Item) -> Iterator[Storages]:
    """What an attribute adds to the storages that are sent, unless an option that is off asks for it."""
    found = list(storages.of_item(entry.program, item))
    if found and not entry.drops(item) and not asked_for.is_asked_for(entry.program, item):
        yield from found


def _is_per_sample(entry: WorkerEntry, item: Item) -> bool:
    """Whether worker code picks from an attribute by the index of the item: then it holds something for each."""
    reads = picking.indexed(entry.code.reads(item.owner, item.attribute))
    return any(entry.picks_by_index(step, node) for step, node in reads)


def _finding(entry: WorkerEntry, found: Storages, item: Item | None) -> Finding:
    return RULE.finding(
        found.frame.scope.module.location(found.node),
        f"{found.what} with {_count(found)}: forkserver passes at most 245 to a worker, then ValueError: too many fds",
        help="keep one stacked tensor with offsets or NumPy arrays, or make them in the worker",
        related=[*_kept(item), *(loader.related() for loader in entry.loaders[:1])],
        symbol=item.owner.qualname if item is not None else found.frame.scope.qualname,
        evidence=item.attribute if item is not None else "dataset",
    )


def _count(found: Storages) -> str:
    if found.total is None:
        return "a separate storage for each sample"
    return f"{found.total} separate storages" if found.total > _MOST else "the last of more than 245 separate storages"


def _kept(item: Item | None) -> list[Related]:
    if item is None:
        return []
    return [Related(f"kept as {item.path}", item.frame.scope.module.location(item.write.node))]
