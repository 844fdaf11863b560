"""DLL302 large-python-container

## What it does

Reports a list, dict or set with one Python object for each sample (paths, records, tuples) that a dataset keeps and
worker code indexes. One report for each attribute; small literals, numbers, NumPy arrays, tensors, Arrow data, and
what only samplers read are fine. Off by default.

## Why it breaks workers

Reading a Python object writes its reference count, and that un-shares the memory page it lies in: each forked worker
grows by up to the size of the container (about 90 bytes for each string), until the machine runs out: `DataLoader
worker (pid ...) is killed by signal: Killed`. Growth is bounded, and slow: the run dies hours later. Spawned workers
get a copy each at once.

## Example

```python
import json

from torch.utils.data import Dataset


class Captions(Dataset):
    def __init__(self, path):
        with open(path) as file:
            self.entries = json.load(file)

    def __len__(self):
        return len(self.entries)

    def __getitem__(self, i):
        return self.entries[i]["tokens"]
```

## Use instead

```python
import numpy as np
from torch.utils.data import Dataset


class Captions(Dataset):
    def __init__(self, tokens):
        self.tokens = np.load(tokens)

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, i):
        return self.tokens[i]
```

## When to ignore

When the data set has fewer than about 100,000 samples.

## References

- Measured on torch 2.13: 2,000,000 items, 4 workers, 27 to 196 MiB for each worker with a list of str, 11 with an array
- https://github.com/pytorch/pytorch/issues/13246
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.workers import per_sample, picking
from dllint.code.workers.datasets import Dataset
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL302",
    name="large-python-container",
    severity=Severity.INFO,
    failure=Failure.WORKER_DIED,
    since="0.1",
    basis=proven("fork"),
    opt_in=True,
    replaced_by=("DLL301",),
)


@RULE.check
def large_python_container(dataset: Dataset) -> Iterator[Finding]:
    """Yield the attributes that hold one Python object for each sample."""
    if dataset.runs_in_main:
        return
    reported: set[tuple[int, str]] = set()
    for item in dataset.items:
        key = (id(item.owner), item.attribute)
        kind = per_sample.container(dataset.program, item) if key not in reported else None
        if kind is None or (item.path.endswith("[]") and not item.write.element):
            continue
        used = picking.read_of(dataset, item)
        if used is None:
            continue
        reported.add(key)
        step, node = used
        yield RULE.finding(
            item.frame.scope.module.location(item.write.node),
            f"{item.path} is {kind}, one for each sample: each worker grows by up to its whole size as it reads it",
            help="keep it as a NumPy array, a tensor, or packed bytes with offsets: their pages stay shared",
            related=[Related("read in a worker here", step.scope.module.location(node)), *dataset.loader_related()],
            symbol=item.owner.qualname,
            evidence=item.attribute,
        )
