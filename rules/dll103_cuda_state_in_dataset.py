"""DLL103 cuda-state-in-dataset

## What it does

Reports CUDA tensors and modules that a dataset keeps and worker code touches, and CUDA tensors handed to
`TensorDataset`, in a list, or as the dataset itself, where the loader has workers. `"cuda" if
torch.cuda.is_available() else "cpu"` counts as CUDA where the number of workers does not depend on it.

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

import ast
from collections.abc import Iterator

from dllint.basis import reported
from dllint.code.facts import WorkerEntry
from dllint.code.language import conditions
from dllint.code.language.links import parent
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
        if not _is_on_cuda(entry.program, item, any(map(_has_workers_on_gpus, entry.loaders))):
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


def _has_workers_on_gpus(loader: Loader) -> bool:
    """Whether it has workers on a machine with a GPU, too: no test of the device decides, nor one dict of several."""
    tests = (ast.unparse(test).lower() for test, _ in conditions.leading_to(loader.call))
    if any(word in test for test in tests for word in ("cuda", "device", "gpu")):
        return False
    return all(each.has_workers for each in loader.program.facts.loaders_at(loader.call) if each.call is loader.call)


def _is_on_cuda(program: Program, item: Item, where_available: bool) -> bool:
    if devices.is_on_cuda(program, item.value, where_available=where_available):
        return True
    binding = item.write.binding
    is_module = isinstance(item.value, Instance) or (isinstance(item.value, Product) and "nn." in item.value.name)
    return is_module and any(
        devices.is_moved_in_place(program, node, item.frame) for node in (binding.value, item.write.target)
    )


def _tensors(loader: Loader) -> Iterator[Finding]:
    """CUDA tensors in a TensorDataset, or in a list, that the loader reads."""
    for container in resident.held(loader, where_available=_has_workers_on_gpus(loader)):
        yield RULE.finding(
            container.frame.scope.module.location(_assignment(container.node)),
            "CUDA tensors are read by DataLoader workers: CUDA initialization error in the forked worker",
            help=_HELP,
            related=[loader.related()],
            symbol=container.frame.scope.qualname,
            evidence="tensors",
        )


def _assignment(node: ast.AST) -> ast.AST:
    """The statement that gives what is made a name; where it has none, the call or the list itself."""
    around = parent(node)
    return around if isinstance(around, (ast.Assign, ast.AnnAssign)) else node
