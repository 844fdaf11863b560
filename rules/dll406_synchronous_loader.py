"""DLL406 synchronous-loader

## What it does

Reports a loader without workers whose samples are read from disk, in code that trains on the GPU with them. Off by
default.

## Why it breaks workers

With `num_workers=0` (also when it is left out) main reads and decodes each batch itself, and the GPU waits meanwhile:
training takes the sum of both times instead of the larger one, with the GPU idle for most of it. Nothing is raised;
Lightning warns that the loader `does not have many workers which may be a bottleneck`. Start with 4 workers and raise
the number until the GPU no longer waits, up to the processors that this process may use,
`len(os.sched_getaffinity(0))`, divided by the ranks on the machine.

## Example

```python
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Scans(Dataset):
    def __len__(self):
        return 900

    def __getitem__(self, i):
        return torch.from_numpy(np.load(f"scans/{i}.npy"))


def main():
    net = nn.Conv2d(4, 4, 3).cuda()
    for scan in DataLoader(Scans(), batch_size=16, pin_memory=True):
        net(scan.cuda(non_blocking=True)).sum().backward()
```

## Use instead

```python
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Scans(Dataset):
    def __len__(self):
        return 900

    def __getitem__(self, i):
        return torch.from_numpy(np.load(f"scans/{i}.npy"))


def main():
    net = nn.Conv2d(4, 4, 3).cuda()
    for scan in DataLoader(Scans(), batch_size=16, pin_memory=True, num_workers=4):
        net(scan.cuda(non_blocking=True)).sum().backward()
```

## When to ignore

When reading a batch takes next to no time beside a training step, or while debugging.

## References

- https://pytorch.org/docs/stable/data.html#single-and-multi-process-data-loading
- https://github.com/fengzhang427/LRD/issues/6
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import reported
from dllint.code.loaders import training
from dllint.code.loaders.loader import Loader
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL406",
    name="synchronous-loader",
    severity=Severity.INFO,
    failure=Failure.SLOW,
    since="0.1",
    basis=reported("fengzhang427/LRD#6"),
    opt_in=True,
)


@RULE.check
def synchronous_loader(loader: Loader) -> Iterator[Finding]:
    """Yield the loaders without workers that GPU training waits for."""
    program = loader.program
    if not loader.defaults_to_no_workers or loader.module.is_test:
        return
    read = training.disk_read(program, loader)
    if read is None:
        return
    for iteration, moved in training.moves_to_gpu(program, loader):
        if training.trains(program, iteration):
            yield _finding(loader, [read, iteration.related(), moved])
            return
    fit = program.facts.lightning.trained_on_gpu(loader)
    if fit is not None:
        yield _finding(loader, [read, fit.related()])


def _finding(loader: Loader, way: list[Related]) -> Finding:
    given = loader.workers.argument is not None
    return RULE.finding(
        loader.where("num_workers") if given else loader.made_at,
        f"num_workers {loader.zero_phrase()}: main reads each batch from disk itself while the GPU waits",
        help="start with num_workers=4 and raise it until the GPU no longer waits, up to len(os.sched_getaffinity(0)) "
        "divided by the ranks on the machine",
        related=[*way, *loader.zero_related()],
        symbol=loader.symbol,
        evidence="num_workers",
    )
