"""DLL108 load-without-map-location

## What it does

Reports `torch.load` without `map_location` in code that DataLoader workers run, in the making of a dataset that keeps
what was loaded and reads it there, and where a loader reads what was loaded, or a `TensorDataset` of it. Silent for
datasets that write or download their files themselves and are not seen to save them from the GPU, for files that the
project saves from the CPU (by their name), or has from a script that its messages name and that is not seen to save
from the GPU, for entries of a loaded dict that need not be tensors, for what goes on to NumPy, there or later, and
where no loader with workers is seen.

## Why it breaks workers

`torch.load` brings a tensor back to the device that it was saved from. A file that was saved from the GPU fails in a
forked worker, in a dataset that never speaks of CUDA: `RuntimeError: Cannot re-initialize CUDA in forked subprocess`.
Loaded in `__init__`, its tensors fail when a worker touches them: `CUDA error: initialization error`.

## Example

```python
import torch
from torch.utils.data import DataLoader, Dataset


class Vectors(Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, i):
        return torch.load(f"vectors/{i}.pt")


loader = DataLoader(Vectors(), num_workers=4)
```

## Use instead

```python
import torch
from torch.utils.data import DataLoader, Dataset


class Vectors(Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, i):
        return torch.load(f"vectors/{i}.pt", map_location="cpu")


loader = DataLoader(Vectors(), num_workers=4)
```

## When to ignore

When the files are known to be saved from the CPU.

## References

- https://docs.pytorch.org/docs/stable/generated/torch.load.html
- https://github.com/pytorch/pytorch/issues/40403
- https://github.com/webdataset/webdataset/pull/408
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from dllint.basis import reported
from dllint.code.facts import WorkerEntry
from dllint.code.language import classes
from dllint.code.language.links import parent
from dllint.code.language.scopes import ClassScope
from dllint.code.language.values import Product
from dllint.code.tensors import loading, saved_files
from dllint.code.workers import state, uses
from dllint.code.workers.reach import Step
from dllint.code.workers.state import Item
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL108",
    name="load-without-map-location",
    severity=Severity.WARNING,
    failure=Failure.CUDA,
    since="0.1",
    basis=reported("pytorch#40403", "webdataset/webdataset#408"),
)

_HELP = 'load to the CPU: torch.load(path, map_location="cpu")'


@RULE.check
def load_without_map_location(entry: WorkerEntry) -> Iterator[Finding]:
    """Yield the loads that may bring CUDA tensors into a forked worker."""
    if not entry.may_fork or not entry.may_have_readers:
        return
    for step, call, _ in uses.in_worker(entry.code, loading.LOAD):
        if loading.may_bring_cuda(entry.program, call, step.frame, loading.entry_of(call)) and not _is_own_file(
            entry, call, _makers(entry, step)
        ):
            yield RULE.finding(
                step.scope.module.location(call),
                "torch.load() without map_location in a DataLoader worker: "
                "what was saved from the GPU cannot be loaded in a forked worker",
                help=_HELP,
                related=entry.way(step),
                symbol=step.scope.qualname,
                evidence="torch.load",
            )
    yield from _kept(entry)
    yield from _handed_on(entry)


def _makers(entry: WorkerEntry, step: Step) -> list[ClassScope]:
    """The classes that may have made what a step loads: the dataset, and the object whose method loads."""
    dataset = [entry.dataset.cls] if entry.dataset is not None else []
    return [*dataset, step.frame.receiver.cls] if step.frame.receiver is not None else dataset


def _is_own_file(entry: WorkerEntry, load: ast.Call, makers: Iterable[ClassScope]) -> bool:
    """Whether one of these classes makes the files itself, and is not seen to save them from the GPU."""
    own = any(loading.has_own_files(entry.program, cls) for cls in makers)
    return own and not saved_files.are_of_gpu(entry.program, load)


def _kept(entry: WorkerEntry) -> Iterator[Finding]:
    """The loads whose tensors the dataset carries into its workers."""
    for item in entry.items:
        for load in _loads(entry, item):
            read = state.read_in_worker(entry.code, item)
            maker = classes.owner_of(load.frame.scope)
            makers = [item.owner] if maker is None else [item.owner, maker]
            if read is None or _is_own_file(entry, load.node, makers):
                continue
            step, node = read
            yield RULE.finding(
                load.frame.scope.module.location(load.node),
                f"torch.load() without map_location, kept as {item.path}: "
                "what was saved from the GPU is a CUDA tensor that a forked worker cannot touch",
                help=_HELP,
                related=[
                    Related(f"kept as {item.path}", item.frame.scope.module.location(item.write.node)),
                    *entry.way(step),
                    Related("read in a worker here", step.scope.module.location(node)),
                ],
                symbol=item.owner.qualname,
                evidence=item.attribute,
            )


def _loads(entry: WorkerEntry, item: Item) -> list[Product]:
    found = list(loading.loads(entry.program, item.value, by_index=True))
    if not found or _is_read_by_index(entry, item):
        return found
    return list(loading.loads(entry.program, item.value))


def _is_read_by_index(entry: WorkerEntry, item: Item) -> bool:
    """Whether workers take one entry for each sample: `self.x[i]`, `self.columns["x"][i]`."""
    return any(entry.picks_by_index(step, _column(node)) for step, node in entry.code.reads(item.owner, item.attribute))


def _column(node: ast.AST) -> ast.AST:
    """`self.columns["x"]` around `self.columns`."""
    around = parent(node)
    named = isinstance(around, ast.Subscript) and isinstance(around.slice, ast.Constant)
    return around if named and around is not None else node


def _handed_on(entry: WorkerEntry) -> Iterator[Finding]:
    """The loads that a loader reads by items: as its dataset, or out of a TensorDataset."""
    for value in entry.plain_datasets():
        for load in loading.handed_on(entry.program, value):
            maker = classes.owner_of(load.frame.scope)
            if maker is not None and _is_own_file(entry, load.node, [maker]):
                continue
            yield RULE.finding(
                load.frame.scope.module.location(load.node),
                "torch.load() without map_location, handed to a loader: "
                "what was saved from the GPU is a CUDA tensor that a forked worker cannot touch",
                help=_HELP,
                related=[loader.related() for loader in entry.loaders[:1]],
                symbol=load.frame.scope.qualname,
                evidence="dataset",
            )
