"""DLL101 cuda-in-worker

## What it does

Reports calls that need a CUDA context in code that DataLoader workers run: `.cuda()`, `.to("cuda")`, tensors made
with `device="cuda"`, `torch.cuda.synchronize()` and the like. Calls that start no context (`torch.device("cuda")`,
`torch.cuda.is_available()`, `manual_seed_all`, `empty_cache` ...) are fine, and so are workers that the code starts
by spawn or forkserver.

## Why it breaks workers

A forked worker cannot use CUDA once the parent process has touched it, and `torch.cuda.is_available()` is touch enough:
`RuntimeError: Cannot re-initialize CUDA in forked subprocess`.

## Example

```python
import torch
from torch.utils.data import Dataset


class Waves(Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, i):
        return torch.sin(torch.linspace(0, 6.28, 64) + i).to("cuda")
```

## Use instead

```python
import torch
from torch.utils.data import DataLoader, Dataset


class Waves(Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, i):
        return torch.sin(torch.linspace(0, 6.28, 64) + i)


def train():
    for wave in DataLoader(Waves(), num_workers=4, pin_memory=True):
        wave = wave.to("cuda", non_blocking=True)
```

## When to ignore

When the workers are started by spawn in a way that does not show in the source. Even then each worker holds a CUDA
context of its own.

## References

- torch 2.13, `torch/cuda/__init__.py`, `_lazy_init`
- https://github.com/pytorch/pytorch/issues/77159
- https://github.com/pytorch/pytorch/issues/40403
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.facts import WorkerEntry
from dllint.code.tensors import transfers
from dllint.code.tensors.devices import Device
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL101",
    name="cuda-in-worker",
    severity=Severity.ERROR,
    failure=Failure.CUDA,
    since="0.1",
    basis=proven("fork", simulated="CUDA"),
)


@RULE.check
def cuda_in_worker(entry: WorkerEntry) -> Iterator[Finding]:
    """Yield the calls in worker code that touch an accelerator on every way."""
    for found in transfers.in_forked_workers(entry, Device.CUDA):
        yield RULE.finding(
            found.location,
            f"{found.text} touches CUDA in a DataLoader worker: "
            "RuntimeError, cannot re-initialize CUDA in forked subprocess",
            help="return CPU tensors and move the batch in the training loop: pin_memory=True, "
            ".to(device, non_blocking=True)",
            related=found.way,
            symbol=found.symbol,
            evidence=found.text,
        )
