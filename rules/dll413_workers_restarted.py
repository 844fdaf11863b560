"""DLL413 workers-restarted

## What it does

Reports a loader whose workers start again in each turn of a loop for no reason: `next(iter(loader))` (or a loop over
the loader that breaks after the first batch) in a loop, and a loader with workers that is built anew in each turn of
the loop that goes through it, though nothing of it changes from turn to turn.

## Why it breaks workers

Each `iter(loader)` starts all workers, each of which loads `prefetch_factor` batches. For one batch that is 0.1
seconds a step under fork and some seconds under spawn and forkserver; all other batches are thrown away, and memory
and descriptors of workers that have not ended yet pile up. A loader that is built in the epoch loop cannot keep its
workers either, and with `persistent_workers=True` the old ones linger: `OSError: [Errno 24] Too many open files`.

## Example

```python
import torch
from torch.utils.data import DataLoader, TensorDataset


def main(steps):
    loader = DataLoader(TensorDataset(torch.rand(512, 4)), batch_size=32, shuffle=True, num_workers=2, timeout=90)
    for step in range(steps):
        (x,) = next(iter(loader))
        print(step, x.mean())
```

## Use instead

```python
import torch
from torch.utils.data import DataLoader, TensorDataset


def endless(loader):
    while True:
        yield from loader


def main(steps):
    loader = DataLoader(TensorDataset(torch.rand(512, 4)), batch_size=32, shuffle=True, num_workers=2, timeout=90)
    batches = endless(loader)
    for step in range(steps):
        (x,) = next(batches)
        print(step, x.mean())
```

## When to ignore

When building the loader has an effect that is wanted in each turn, and that does not show in the source.

## References

- Measured on torch 2.13: `next(iter(loader))` 0.07 s a step (fork), 2.4 s (forkserver), 0.001 s with one iterator
- https://github.com/pytorch/pytorch/issues/1917
- https://github.com/pytorch/pytorch/issues/91252
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.loaders import iterations, restarts
from dllint.code.loaders.iterations import Repetition
from dllint.code.loaders.restarts import Rebuilt
from dllint.code.processes import start_method
from dllint.code.program import Program
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL413",
    name="workers-restarted",
    severity=Severity.WARNING,
    failure=Failure.SLOW,
    since="0.1",
    basis=proven("fork", "forkserver"),
)


@RULE.check
def workers_restarted(program: Program) -> Iterator[Finding]:
    """Yield the loops that start a loader's workers in each turn."""
    for repetition in restarts.first_batches(program):
        if not repetition.iteration.module.is_test and not start_method.uses_threads(repetition.iteration.loader):
            yield _first_batch(repetition)
    for rebuilt in restarts.rebuilt(program):
        if not rebuilt.loader.module.is_test and not start_method.uses_threads(rebuilt.loader):
            yield _built_in_loop(rebuilt)


def _first_batch(found: Repetition) -> Finding:
    iteration, loader = found.iteration, found.iteration.loader
    return RULE.finding(
        iteration.module.location(iterations.head(iteration.node)),
        f"starts {loader.describe_workers()} in each turn of the loop, for one batch",
        help="make one iterator before the loop, and a new one when it ends (StopIteration)",
        related=[*found.way()[:-1], loader.related()],
        symbol=iteration.frame.scope.qualname,
        evidence=f"next(iter()) of {loader.symbol}",
    )


def _built_in_loop(found: Rebuilt) -> Finding:
    loop = found.frame.scope.module.location(iterations.head(found.loop))
    return RULE.finding(
        found.loader.made_at,
        f"each turn of the loop builds an equal loader, and starts {found.loader.describe_workers()} for it",
        help="build it once before the loop, with persistent_workers=True",
        related=[Related("built in each turn of this loop", loop), found.iteration.related()],
        symbol=found.loader.symbol,
        evidence="built in a loop",
    )
