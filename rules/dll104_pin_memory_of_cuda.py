"""DLL104 pin-memory-of-cuda

## What it does

Reports `pin_memory=True` on a loader whose dataset or `collate_fn` already gives CUDA tensors. Where forked workers
would make them, DLL101 and DLL103 report instead: there the worker fails first.

## Why it breaks workers

Only memory of the host can be pinned: `RuntimeError: cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be
pinned`. With `num_workers=0`, the usual choice for data on the GPU, the loader itself raises it; with workers it is
`Caught RuntimeError in pin memory thread for device 0.` Without a GPU `pin_memory` does nothing, so that the fault
shows on the GPU machine only.

## Example

```python
import torch
from torch.utils.data import DataLoader, TensorDataset

features = torch.rand(100, 8, device="cuda")
loader = DataLoader(TensorDataset(features), pin_memory=True)
```

## Use instead

```python
import torch
from torch.utils.data import DataLoader, TensorDataset

features = torch.rand(100, 8, device="cuda")
loader = DataLoader(TensorDataset(features))
```

## When to ignore

When something that does not show in the source brings the batches back to the CPU.

## References

- https://docs.pytorch.org/docs/stable/data.html#memory-pinning
- https://github.com/unit8co/darts/issues/436
- https://github.com/DavidWBressler/GCNN/issues/2
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import reported
from dllint.code.language.values import Const, Product, Value
from dllint.code.loaders.loader import Loader
from dllint.code.processes import start_method
from dllint.code.tensors import resident
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL104",
    name="pin-memory-of-cuda",
    severity=Severity.ERROR,
    failure=Failure.CUDA,
    since="0.1",
    basis=reported("unit8co/darts#436", "DavidWBressler/GCNN#2"),
)


@RULE.check
def pin_memory_of_cuda(loader: Loader) -> Iterator[Finding]:
    """Yield the loaders that pin what is on the GPU."""
    if not any(_pins(value) for value in loader.option("pin_memory").defaults) or _worker_fails_first(loader):
        return
    made = next(resident.handed_on(loader), None)
    if made is None:
        return
    yield RULE.finding(
        loader.where("pin_memory"),
        "pin_memory=True on a loader that gives CUDA tensors: RuntimeError, only dense CPU tensors can be pinned",
        help="leave pin_memory out, or keep the data on the CPU and move each batch in the training loop",
        related=[made, *loader.context_related()],
        symbol=loader.symbol,
        evidence="pin_memory",
    )


def _pins(value: Value) -> bool:
    """Whether it pins wherever there is a GPU."""
    if isinstance(value, Product):
        return value.name == "torch.cuda.is_available"
    return isinstance(value, Const) and value.value is True


def _worker_fails_first(loader: Loader) -> bool:
    if loader.has_no_workers or loader.defaults_to_no_workers:
        return False
    return "fork" in start_method.of_loader(loader.program, loader)
