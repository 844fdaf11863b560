"""DLL408 respawned-workers

## What it does

Reports a loader with workers that an epoch loop goes through again and again, without `persistent_workers`. Off by
default; a warning where the workers are certainly started by spawn or forkserver.

## Why it breaks workers

Each epoch ends the workers and starts new ones: 15 milliseconds a worker under fork, but 0.6 to 0.8 seconds a worker
under forkserver (Linux from Python 3.14) and spawn (Windows, macOS), and more where the dataset is large or opens
files, as all of it is sent again. Meanwhile the GPU waits.

## Example

```python
import torch
from torch.utils.data import DataLoader, TensorDataset


def main(epochs):
    loader = DataLoader(TensorDataset(torch.rand(512, 4)), batch_size=32, num_workers=4)
    for epoch in range(epochs):
        for (x,) in loader:
            print(epoch, x.mean())
```

## Use instead

```python
import torch
from torch.utils.data import DataLoader, TensorDataset


def main(epochs):
    loader = DataLoader(TensorDataset(torch.rand(512, 4)), batch_size=32, num_workers=4, persistent_workers=True)
    for epoch in range(epochs):
        for (x,) in loader:
            print(epoch, x.mean())
```

## When to ignore

When the workers keep something that has to be dropped after each epoch, or when main changes the dataset between
epochs: see DLL412.

## References

- Measured on torch 2.13, 4 workers: 0.07 s an epoch (fork), 2.3 s (forkserver), 3.3 s (spawn), 0.01 s (persistent)
- https://github.com/open-mmlab/mmpose/issues/923
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.loaders import mutations, restarts
from dllint.code.loaders.iterations import Repetition
from dllint.code.loaders.loader import Loader
from dllint.code.processes import start_method
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL408",
    name="respawned-workers",
    severity=Severity.INFO,
    failure=Failure.SLOW,
    since="0.1",
    basis=proven("fork", "spawn", "forkserver"),
    opt_in=True,
)


@RULE.check
def respawned_workers(loader: Loader) -> Iterator[Finding]:
    """Yield the loaders whose workers start anew in each turn of a visible epoch loop."""
    if not loader.has_workers or not loader.option("persistent_workers").is_certainly(False):
        return
    methods = start_method.of_loader(loader.program, loader)
    if not methods or loader.has_own_iter:
        return
    repetition = next(_epochs(loader), None)
    if repetition is None:
        return
    slow = methods <= start_method.PICKLING
    yield RULE.finding(
        loader.made_at,
        f"each epoch starts {loader.describe_workers()} anew"
        + (f", by {' or '.join(sorted(methods))}: 0.6 seconds or more each" if slow else ""),
        help="pass persistent_workers=True: the workers then live as long as the loader",
        related=repetition.way(),
        symbol=loader.symbol,
        evidence="persistent_workers",
        severity=Severity.WARNING if slow else None,
    )


def _epochs(loader: Loader) -> Iterator[Repetition]:
    """The loops that go through the whole loader in each turn, and leave its dataset as it is."""
    for repetition in loader.program.facts.repetitions_of(loader):
        if restarts.takes_first_only(repetition.iteration):
            continue
        if not mutations.may_change(loader.program, loader, repetition):
            yield repetition
