"""DLL102 device-transfer-in-worker

## What it does

Reports transfers to a device that may be an accelerator, in code that DataLoader workers run: `.to(device)`,
`.to(self.device)`, `torch.tensor(..., device=device)`. Silent where every value that can reach the argument is the
CPU, where it is a dtype, and for `.to(x.device)`, which follows its input.

## Why it breaks workers

As DLL101 as soon as the device is a GPU: `RuntimeError: Cannot re-initialize CUDA in forked subprocess`. On a machine
without a GPU the same code runs, so the fault shows on the GPU node only.

## Example

```python
import torch
from torch.utils.data import DataLoader

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def collate(rows):
    return torch.tensor(rows).to(device)


loader = DataLoader([[1, 2], [3, 4]], num_workers=2, collate_fn=collate)
```

## Use instead

```python
import torch
from torch.utils.data import DataLoader


def collate(rows):
    return torch.tensor(rows)


def train(device):
    for batch in DataLoader([[1, 2], [3, 4]], num_workers=2, collate_fn=collate, pin_memory=True):
        batch = batch.to(device, non_blocking=True)
```

## When to ignore

When only the CPU is ever passed, in a way that does not show in the source.

## References

- torch 2.13, `torch/cuda/__init__.py`, `_lazy_init`
- https://github.com/pytorch/pytorch/issues/17359
- https://github.com/Tongjilibo/bert4torch/issues/149
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
    code="DLL102",
    name="device-transfer-in-worker",
    severity=Severity.WARNING,
    failure=Failure.CUDA,
    since="0.1",
    basis=proven("fork", simulated="CUDA"),
    replaced_by=("DLL101",),
)


@RULE.check
def device_transfer_in_worker(entry: WorkerEntry) -> Iterator[Finding]:
    """Yield the calls in worker code that touch a device which may be an accelerator."""
    for found in transfers.in_forked_workers(entry, Device.MAYBE):
        yield RULE.finding(
            found.location,
            f"{found.text} moves to a device in a DataLoader worker: fails in a forked worker if the device is a GPU",
            help="build CPU tensors in the worker and move the batch in the training loop",
            related=found.way,
            symbol=found.symbol,
            evidence=found.text,
        )
