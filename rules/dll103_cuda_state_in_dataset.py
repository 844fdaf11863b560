"""DLL103 cuda-state-in-dataset

## What it does

Reports CUDA tensors and modules that a dataset keeps and worker code touches, and CUDA tensors handed to
`TensorDataset`, where the loader has workers.

## Why it breaks workers

A forked worker cannot use what the parent put on the GPU: `RuntimeError: CUDA error: initialization error`, or `Cannot
re-initialize CUDA in forked subprocess`.

## Example

```python
import torch
from torch.utils.data import DataLoader, TensorDataset

features = torch.rand(100, 8)
loader = DataLoader(TensorDataset(features.cuda()), num_workers=2)
```

## Use instead

```python
import torch
from torch.utils.data import DataLoader, TensorDataset

features = torch.rand(100, 8)
loader = DataLoader(TensorDataset(features.cuda()), num_workers=0)
```

## When to ignore

When the workers are started by spawn in a way that does not show in the source.

## References

- https://github.com/pytorch/pytorch/issues/4377
- https://github.com/pytorch/pytorch/issues/40403
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import reported
from dllint.code.facts import WorkerEntry
from dllint.code.language.values import Instance, Product
from dllint.code.loaders.loader import Loader
from dllint.code.program import Program
from dllint.code.tensors import devices, resident
from dllint.code.workers import uses
from dllint.code.workers.state import Item
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL103",
    name="cuda-state-in-dataset",
    severity=Severity.ERROR,
    failure=Failure.CUDA,
    since="0.1",
    basis=reported("pytorch#4377", "pytorch#40403"),
)

_HELP = "keep the data on the CPU and move each batch in the training loop, or load GPU data with num_workers=0"


@RULE.check
def cuda_state_in_dataset(entry: WorkerEntry) -> Iterator[Finding]:
    """Yield the CUDA state that workers inherit and touch."""
    if not entry.may_fork:
        return
    for loader in entry.loaders:
        yield from _tensors(loader)
    for item in entry.dataset.items if entry.dataset is not None else ():
        if not _is_on_cuda(entry.program, item):
            continue
        reads = entry.code.reads(item.owner, item.attribute)
        read = next((found for found in reads if uses.runs_in_worker_only(found[0])), None)
        if read is None:
            continue
        step, node = read
        yield RULE.finding(
            item.frame.scope.module.location(item.write.node),
            f"{item.path} is on the GPU and is used in a DataLoader worker: "
            "CUDA initialization error in the forked worker",
            help=_HELP,
            related=[*entry.way(step), Related(f"{item.attribute} used here", step.scope.module.location(node))],
            symbol=item.owner.qualname,
            evidence=item.attribute,
        )


def _is_on_cuda(program: Program, item: Item) -> bool:
    if devices.is_on_cuda(program, item.value):
        return True
    binding = item.write.binding
    is_module = isinstance(item.value, Instance) or (isinstance(item.value, Product) and "nn." in item.value.name)
    return is_module and any(
        devices.is_moved_in_place(program, node, item.frame) for node in (binding.value, item.write.target)
    )


def _tensors(loader: Loader) -> Iterator[Finding]:
    """CUDA tensors in a TensorDataset, or in a list, that the loader reads."""
    for container in resident.held(loader):
        yield RULE.finding(
            container.frame.scope.module.location(container.node),
            "CUDA tensors are read by DataLoader workers: CUDA initialization error in the forked worker",
            help=_HELP,
            related=[loader.related()],
            symbol=container.frame.scope.qualname,
            evidence="tensors",
        )
