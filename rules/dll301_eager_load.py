"""DLL301 eager-load

## What it does

Reports a dataset whose `__init__` reads the contents of its files, one after the other, into a list or dict that it
keeps: decoded images, arrays, audio. Metadata (paths, labels, sizes), caches that an option asks for, and one array
over all samples are fine.

## Why it breaks workers

The start takes as long as reading all data, and the whole of it lies in memory before the first batch. Spawned
workers get a copy each; forked ones copy the pages of the containers as they touch them. On a full data set the
workers end with `DataLoader worker (pid ...) is killed by signal: Killed`.

## Example

```python
import numpy as np
from torch.utils.data import Dataset


class Volumes(Dataset):
    def __init__(self, paths):
        self.volumes = [np.load(path) for path in paths]

    def __len__(self):
        return len(self.volumes)

    def __getitem__(self, i):
        return self.volumes[i]
```

## Use instead

```python
import numpy as np
from torch.utils.data import Dataset


class Volumes(Dataset):
    def __init__(self, paths):
        self.paths = np.asarray(paths, dtype=np.str_)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        return np.load(self.paths[i])
```

## When to ignore

When the data is small and known to stay so. Then one contiguous array or tensor is better still: workers share it.

## References

- https://github.com/ultralytics/ultralytics/pull/24673
- https://github.com/pytorch/pytorch/issues/13246
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.language.scopes import ClassScope
from dllint.code.workers import asked_for, eager, parsed, rows
from dllint.code.workers.beside import is_beside_samples
from dllint.code.workers.datasets import Dataset
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL301",
    name="eager-load",
    severity=Severity.WARNING,
    failure=Failure.WORKER_DIED,
    since="0.1",
    basis=proven("spawn"),
)


@RULE.check
def eager_load(dataset: Dataset) -> Iterator[Finding]:
    """Yield the containers that a dataset fills with the contents of its samples when it is made."""
    if dataset.runs_in_main:
        return
    reported: set[tuple[ClassScope, str]] = set()
    for item in dataset.items:
        if (item.owner, item.attribute) in reported:
            continue
        read = eager.read_of(dataset.program, item) or rows.read_of(dataset.program, item)
        if read is None or asked_for.is_asked_for(dataset.program, item) or is_beside_samples(dataset, item, read):
            continue
        if read.parsed and not parsed.are_samples(dataset, item):
            continue
        used = next(dataset.worker.reads(item.owner, item.attribute), None)
        if used is None:
            continue
        step, node = used
        reported.add((item.owner, item.attribute))
        yield RULE.finding(
            item.frame.scope.module.location(item.write.node),
            f"{item.path} holds the contents of all samples, read by {read.call} before the first batch",
            help="keep the paths and read in __getitem__, or keep one contiguous array that workers share",
            related=[
                Related("read here", read.frame.scope.module.location(read.node)),
                Related("used in a worker here", step.scope.module.location(node)),
                *dataset.loader_related(),
            ],
            symbol=item.owner.qualname,
            evidence=item.attribute,
        )
