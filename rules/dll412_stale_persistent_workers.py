"""DLL412 stale-persistent-workers

## What it does

Reports a change that main makes, from epoch to epoch, to an object that persistent workers hold a copy of: an
attribute of the dataset (`dataset.epoch = epoch`, also in a method such as `set_epoch`), or of a transform or
collate function that it carries.

## Why it breaks workers

Workers get their copy of the dataset when they start. With `persistent_workers=True` that is once, at the first
epoch: whatever main changes later never reaches them. The epoch number stays 0, the curriculum stays at its first
stage, the same "random" crops come each epoch; nothing is raised, and the data is wrong.

## Example

```python
import torch
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self, clean):
        self.clean = clean
        self.epoch = 0

    def __len__(self):
        return len(self.clean)

    def __getitem__(self, i):
        generator = torch.Generator().manual_seed(self.epoch * len(self.clean) + i)
        return self.clean[i] + torch.randn((), generator=generator)


def main(epochs):
    data = Noisy(torch.rand(256))
    loader = DataLoader(data, batch_size=32, num_workers=2, persistent_workers=True)
    for epoch in range(epochs):
        data.epoch = epoch
        for batch in loader:
            print(epoch, batch.mean())
```

## Use instead

```python
import torch
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self, clean):
        self.clean = clean
        self.epoch = torch.zeros((), dtype=torch.int64).share_memory_()

    def __len__(self):
        return len(self.clean)

    def __getitem__(self, i):
        generator = torch.Generator().manual_seed(int(self.epoch) * len(self.clean) + i)
        return self.clean[i] + torch.randn((), generator=generator)


def main(epochs):
    data = Noisy(torch.rand(256))
    loader = DataLoader(data, batch_size=32, num_workers=2, persistent_workers=True)
    for epoch in range(epochs):
        data.epoch.fill_(epoch)
        for batch in loader:
            print(epoch, batch.mean())
```

## When to ignore

When the loader's iterator is thrown away before the next epoch, in a way that does not show in the source.

## References

- Measured on torch 2.13: workers see epochs 0, 0, 0, 0 for an attribute, 0, 1, 2, 3 for a shared tensor
- https://github.com/pytorch/pytorch/issues/97326
- https://github.com/starVLA/starVLA/issues/470
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.loaders import mutations, stale_hooks
from dllint.code.loaders.loader import Loader
from dllint.code.loaders.mutations import Mutation
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL412",
    name="stale-persistent-workers",
    severity=Severity.ERROR,
    failure=Failure.WRONG_SAMPLES,
    since="0.1",
    basis=proven("fork", "spawn", "forkserver"),
)


@RULE.check
def stale_persistent_workers(loader: Loader) -> Iterator[Finding]:
    """Yield the changes that a loader's persistent workers never see."""
    if not loader.keeps_its_workers:
        return
    for repetition in loader.program.facts.repetitions_of(loader):
        if b"._iterator" in repetition.frame.scope.module.data:
            continue  # `loader._iterator = None` ends the workers
        for mutation in mutations.between_epochs(loader.program, loader, repetition):
            yield _finding(loader, mutation, repetition.way())
    for mutation in stale_hooks.find(loader.program, loader):
        yield _finding(loader, mutation, [])


def _finding(loader: Loader, mutation: Mutation, way: list[Related]) -> Finding:
    what = f"{mutation.owner.name}.{mutation.write.name}"
    return RULE.finding(
        mutation.module.location(mutation.write.node),
        f"{what} is changed in main, but the persistent workers keep the copy that they started with",
        help="keep it in shared memory (torch.zeros(()).share_memory_(), multiprocessing.Value) and change that "
        "in place, or leave out persistent_workers",
        related=[*mutation.hops, mutation.read, loader.related(), *way],
        symbol=mutation.symbol,
        evidence=what,
    )
