"""DLL212 many-tensors-per-batch

## What it does

Reports a loader whose `collate_fn` leaves the tensors of its samples apart (the batch as it is, a list, `zip(*batch)`)
while batches hold 400 tensors or more: the batch size times the tensors of a sample. Stacked tensors, NumPy arrays,
views on one tensor that the dataset keeps, the file_system strategy and programs that raise the limit of open files
themselves are fine.

## Why it breaks workers

Each tensor of a batch crosses from the worker as a shared-memory file of its own, and the worker spends two descriptors
on it. With the usual limit of 1,024 it ends near tensor 504: `unable to open shared memory object </torch_...> in
read-write mode: Too many open files (24)` in the worker, after which the loader waits for ever; a few fewer, and main
ends with `OSError: [Errno 24] Too many open files`.

## Example

```python
import torch
from torch.utils.data import DataLoader, Dataset


class Points(Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, i):
        return torch.rand(i % 7 + 1, 3)


def as_list(batch):
    return batch


loader = DataLoader(Points(), batch_size=1024, num_workers=2, collate_fn=as_list)
```

## Use instead

```python
import torch
from torch.utils.data import DataLoader, Dataset


class Points(Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, i):
        return torch.rand(i % 7 + 1, 3)


def packed(batch):
    return torch.cat(batch), torch.tensor([len(points) for points in batch])


loader = DataLoader(Points(), batch_size=1024, num_workers=2, collate_fn=packed)
```

## When to ignore

When the limit of open files is raised where the program is started (`ulimit -n 65536`).

## References

- Measured on torch 2.13: 400 tensors in a batch fail with the limit of 1,024, 64 pass with 256
- https://docs.pytorch.org/docs/stable/multiprocessing.html#file-descriptor-file-descriptor
- https://github.com/pytorch/pytorch/issues/973
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.loaders import batches
from dllint.code.loaders.loader import Loader
from dllint.code.processes import start_method
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL212",
    name="many-tensors-per-batch",
    severity=Severity.WARNING,
    failure=Failure.DESCRIPTORS,
    since="0.1",
    basis=proven(),
)

_MANY = 400


@RULE.check
def many_tensors_per_batch(loader: Loader) -> Iterator[Finding]:
    """Yield a loader whose batches are known to hold many tensors."""
    collate = loader.arguments.get("collate_fn")
    size = _batch_size(loader)
    if collate is None or size < 2 or loader.has_no_workers or not loader.speaks_of_workers:
        return
    program = loader.program
    functions = collate.values(program.evaluator)
    sample = batches.sample_values(program, loader)
    apart = min((batches.kept_apart(program, function, sample) for function in functions), default=0)
    if apart * size < _MANY or program.facts.has_room_for_descriptors or not start_method.of_loader(program, loader):
        return
    yield RULE.finding(
        loader.location,
        f"each batch holds {apart * size} tensors, {apart} of each of its {size} samples, and a worker spends two "
        "descriptors on each: it runs out of them near 500, and the loader hangs",
        help="stack or concatenate the tensors in collate_fn, or call torch.multiprocessing.set_sharing_strategy"
        '("file_system") before the first iteration',
        related=[Related("left apart by this collate_fn", loader.where("collate_fn"))],
        symbol=loader.symbol,
        evidence="collate_fn",
    )


def _batch_size(loader: Loader) -> int:
    """The smallest batch size that is possible; 0 if it is not known."""
    option = loader.option("batch_size")
    sizes = option.constants()
    known = option.is_known and len(sizes) == len(option.defaults) and "batch_sampler" not in loader.arguments
    return min(sizes) if known and all(isinstance(size, int) for size in sizes) else 0
