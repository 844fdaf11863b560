"""DLL304 unbounded-cache

## What it does

Reports worker code that keeps something for each item and never lets go of it: a dict or list on the dataset, its class
or the module, keyed by the index; a function under `functools.cache` or `lru_cache(maxsize=None)`. Caches with a bound
or with eviction, caches of numbers, and caches that an option asks for are fine.

## Why it breaks workers

Each worker has a cache of its own. With `persistent_workers=True` each of them grows to the whole data set (131, 197,
228, 246 MiB over four epochs), until `DataLoader worker (pid ...) is killed by signal: Killed`. Without it the cache is
thrown away with the workers at the end of each epoch, before an item comes up again: it costs memory and saves nothing.

## Example

```python
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Volumes(Dataset):
    def __init__(self, paths):
        self.paths = paths
        self.cache = {}

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        if i not in self.cache:
            self.cache[i] = np.load(self.paths[i])
        return self.cache[i]


def load(paths):
    return DataLoader(Volumes(paths), num_workers=4, persistent_workers=True)
```

## Use instead

```python
import functools

import numpy as np
from torch.utils.data import DataLoader, Dataset


@functools.lru_cache(maxsize=32)
def volume(path):
    return np.load(path)


class Volumes(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        return volume(self.paths[i])


def load(paths):
    return DataLoader(Volumes(paths), num_workers=4, persistent_workers=True)
```

## When to ignore

When the data set times the number of workers fits into memory, and the workers are persistent.

## References

- Measured on torch 2.13: persistent workers, private memory of one over four epochs; without them it stays at 130 MiB
- https://docs.python.org/3/library/functools.html#functools.lru_cache
- https://github.com/pytorch/pytorch/issues/13246
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.facts import WorkerEntry
from dllint.code.workers import growth
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL304",
    name="unbounded-cache",
    severity=Severity.WARNING,
    failure=Failure.WORKER_DIED,
    since="0.1",
    basis=proven("fork", "spawn"),
    replaced_by=("DLL203", "DLL604"),
)


@RULE.check
def unbounded_cache(entry: WorkerEntry) -> Iterator[Finding]:
    """Yield the caches that worker code fills without an end."""
    if not entry.start_methods:
        return
    for cache in growth.caches(entry):
        yield RULE.finding(
            cache.scope.module.location(cache.node),
            f"{cache.what} keeps something for each item and lets go of nothing: {_harm(entry)}",
            help="give it a bound (functools.lru_cache(maxsize=...)), or keep a cache on disk that all workers share",
            related=entry.way(cache.step),
            symbol=cache.step.scope.qualname,
            evidence=cache.what,
        )


def _harm(entry: WorkerEntry) -> str:
    options = [loader.option("persistent_workers") for loader in entry.loaders]
    if any(option.is_certainly(True) for option in options):
        return "each persistent worker grows to the size of the whole data set"
    if options and all(option.is_certainly(False) for option in options):
        return "each worker fills one of its own, thrown away with it at the end of every epoch"
    return (
        "each worker fills one of its own: with persistent_workers it grows to the whole data set, else it is thrown "
        "away at the end of every epoch"
    )
