"""DLL601 unsharded-iterable

## What it does

Reports an `IterableDataset` whose `__iter__` passes on finite data of its own (files, listings, ranges) while nothing
on the way asks which worker it runs in: not `__iter__`, a helper, the `worker_init_fn`, or a library that shards.
Wrappers around other datasets, endless streams and loaders without workers are fine.

## Why it breaks workers

Each worker runs the whole `__iter__`: with 4 workers an epoch holds every sample four times. Nothing fails, but for a
warning where somebody asked for the length (`Length of IterableDataset ... was reported to be 8, but 9 samples have
been fetched`); metrics and learning rates are just wrong.

## Example

```python
from torch.utils.data import DataLoader, IterableDataset


class Numbers(IterableDataset):
    def __iter__(self):
        yield from range(1000)


loader = DataLoader(Numbers(), num_workers=4)
```

## Use instead

```python
import itertools

from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Numbers(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        yield from itertools.islice(range(1000), first, None, step)


loader = DataLoader(Numbers(), num_workers=4)
```

## When to ignore

When each worker is meant to see all data, or the share is decided in a way that does not show in the source.

## References

- https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset
- https://github.com/pytorch/pytorch/issues/30599
- Run on torch 2.13: 2 workers give every sample twice, 4 workers four times
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.workers import sharding
from dllint.code.workers.datasets import Dataset
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL601",
    name="unsharded-iterable",
    severity=Severity.ERROR,
    failure=Failure.WRONG_SAMPLES,
    since="0.1",
    basis=proven(),
)


@RULE.check
def unsharded_iterable(dataset: Dataset) -> Iterator[Finding]:
    """Yield the iterable datasets that give all their data in every worker."""
    if not dataset.is_iterable or not dataset.working_loaders:
        return
    if all(loader.workers.is_known and loader.workers.constants() == [1] for loader in dataset.working_loaders):
        return  # a single worker gives each sample once
    start = sharding.own_iter(dataset)
    if start is None or sharding.asks_for_worker(dataset):
        return
    found = sharding.own_source(dataset, start)
    if found is None:
        return
    step, source = found
    yield RULE.finding(
        start.scope.module.location(start.scope.node),
        f"{dataset.name}.__iter__ gives all its data in every worker: with n workers each sample comes n times",
        help="share it out: itertools.islice(data, info.id, None, info.num_workers) with info = get_worker_info()",
        related=[
            Related("the whole data is passed on here", step.scope.module.location(source)),
            *dataset.loader_related(),
        ],
        symbol=start.scope.qualname,
        evidence="__iter__",
    )
