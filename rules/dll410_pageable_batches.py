"""DLL410 pageable-batches

## What it does

Reports a loader with workers whose batches main moves to the GPU, without `pin_memory=True`. Off by default.

## Why it breaks workers

A copy from ordinary (pageable) memory to the GPU first goes through a pinned buffer, and main waits for it:
`non_blocking=True` has no effect. With `pin_memory=True` a thread of the loader puts finished batches into pinned
memory, and the copy runs while main goes on. A pinned batch is also a copy: it no longer holds shared memory.

## Example

```python
import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    loader = DataLoader(TensorDataset(torch.rand(512, 4)), batch_size=32, num_workers=2)
    for (x,) in loader:
        print(x.to("cuda", non_blocking=True).mean())
```

## Use instead

```python
import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    loader = DataLoader(TensorDataset(torch.rand(512, 4)), batch_size=32, num_workers=2, pin_memory=True)
    for (x,) in loader:
        print(x.to("cuda", non_blocking=True).mean())
```

## When to ignore

When memory is so scarce that no pages can be locked, or batches are tiny.

## References

- https://pytorch.org/docs/stable/data.html#memory-pinning
- https://pytorch.org/tutorials/intermediate/pinmem_nonblock.html
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import read
from dllint.code.loaders import training
from dllint.code.loaders.loader import Loader
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL410",
    name="pageable-batches",
    severity=Severity.INFO,
    failure=Failure.SLOW,
    since="0.1",
    basis=read("the documentation of torch on pinned memory"),
    opt_in=True,
)


@RULE.check
def pageable_batches(loader: Loader) -> Iterator[Finding]:
    """Yield the loaders whose unpinned batches main moves to the GPU."""
    if loader.defaults_to_no_workers or loader.module.is_test or not loader.takes("pin_memory"):
        return
    if not loader.option("pin_memory").is_certainly(False) or loader.has_own_iter:
        return
    found = next(training.moves_to_gpu(loader.program, loader), None)
    if found is None:
        return
    iteration, moved = found
    yield RULE.finding(
        loader.where("pin_memory") if loader.option("pin_memory").argument is not None else loader.made_at,
        "batches go to the GPU from pageable memory: main waits for each copy",
        help="pass pin_memory=True, and move with non_blocking=True",
        related=[iteration.related(), moved],
        symbol=loader.symbol,
        evidence="pin_memory",
    )
