"""DLL601 unsharded-iterable

## What it does

Reports an `IterableDataset` whose `__iter__` passes on finite data of its own (files, listings, ranges) while nothing
on the way asks which worker it runs in: not `__iter__`, a helper, the `worker_init_fn`, or a library that shards.
Wrappers around other datasets, endless streams and loaders without workers are fine. Reports pipelines of webdataset
and DataPipes, too, that go into a loader with no `split_by_worker`, or `sharding_filter`, among their stages.

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
- Run on torch 2.13 (and webdataset 1.0.2, torchdata 0.9): 2 workers give every sample twice, 4 workers four times
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.facts import WorkerEntry
from dllint.code.language.values import Product
from dllint.code.loaders.loader import Loader
from dllint.code.workers import library_pipes, sharding
from dllint.code.workers.datasets import Dataset
from dllint.code.workers.worker_queries import asks_for_worker
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
def unsharded_iterable(entry: WorkerEntry) -> Iterator[Finding]:
    """Yield the iterable datasets, and the pipelines of libraries, that give all their data in every worker."""
    if all(map(_has_one_worker, entry.loaders)):
        return  # or is read by nobody
    if entry.dataset is not None:
        yield from _of_dataset(entry.dataset)
        return
    loader = entry.loaders[0]
    whole = library_pipes.read_whole(entry.program, loader)
    if whole and not asks_for_worker(entry.program, entry.code.steps):
        yield from (_of_pipeline(made, loader) for made in whole)


def _has_one_worker(loader: Loader) -> bool:
    """A single worker gives each sample once."""
    return loader.workers.is_known and loader.workers.constants() == [1]


def _of_dataset(dataset: Dataset) -> Iterator[Finding]:
    start = sharding.own_iter(dataset) if dataset.is_iterable else None
    if start is None or asks_for_worker(dataset.program, dataset.worker.steps):
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


def _of_pipeline(made: Product, loader: Loader) -> Finding:
    scope, name = made.frame.scope, made.name.rpartition(".")[2]
    is_web = made.name.startswith("webdataset.")
    return RULE.finding(
        scope.module.location(made.node),
        f"this {name} gives all its data in every worker: with n workers each sample comes n times",
        help=_WEB_HELP[name] if is_web else "put .sharding_filter() behind the source: torch shares out there",
        related=[loader.related()],
        symbol=scope.qualname,
        evidence=name,
    )


_WEB_HELP = {
    "DataPipeline": "put wds.split_by_worker behind the list of shards",
    "WebDataset": "leave out workersplitter: it is wds.split_by_worker",
}
