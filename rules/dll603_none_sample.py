"""DLL603 none-sample

## What it does

Reports a `__getitem__` that can give None, or a sample with None in it, to the default collate: by `return None`, by
coming to its end (a swallowed exception, a single `if` without else), or through a helper that does. Also reports a
collate_fn that leaves None out and hands on a list that may be empty. A collate_fn that tests what is left is fine.
The arms of an `elif` or a `match` are taken to be all that there are: `i % 2 == 0`, `i % 2 == 1`.

## Why it breaks workers

The default collate cannot put None into a batch: `TypeError: default_collate: batch must contain tensors, numpy arrays,
numbers, dicts or lists; found <class 'NoneType'>`, `AttributeError: 'NoneType' object has no attribute 'numel'` or
`RuntimeError: Could not infer dtype of NoneType`, by where it stands. One broken file ends the training. An empty list
ends it with `IndexError: list index out of range`.

## Example

```python
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self, paths, read):
        self.paths, self.read = paths, read

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        try:
            return self.read(self.paths[i])
        except OSError:
            return None


def load(paths, read):
    return DataLoader(Images(paths, read), batch_size=8, num_workers=2)
```

## Use instead

```python
from torch.utils.data import DataLoader, Dataset, default_collate


class Images(Dataset):
    def __init__(self, paths, read):
        self.paths, self.read = paths, read

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        try:
            return self.read(self.paths[i])
        except OSError:
            return None


def without_broken(batch):
    batch = [image for image in batch if image is not None]
    return default_collate(batch) if batch else None


def load(paths, read):
    return DataLoader(Images(paths, read), batch_size=8, num_workers=2, collate_fn=without_broken)
```

## When to ignore

When the data is checked beforehand, so that the None never happens; an exception would say what is wrong with it.

## References

- https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.default_collate
- https://github.com/pytorch/pytorch/issues/1137 and https://github.com/pytorch/pytorch/issues/57429
- Run on torch 2.13: the three texts, and the filtering collate that passes
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.language import classes, returns
from dllint.code.language.returns import NoneReturn
from dllint.code.language.values import Frame, Instance, is_unknown
from dllint.code.loaders import collating
from dllint.code.loaders.collating import Filtered
from dllint.code.loaders.loader import Loader
from dllint.code.workers import datasets
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL603",
    name="none-sample",
    severity=Severity.ERROR,
    failure=Failure.WORKER_DIED,
    since="0.1",
    basis=proven(),
)


@RULE.check
def none_sample(loader: Loader) -> Iterator[Finding]:
    """Yield where a loader's samples can be None, or its batches empty."""
    emptied = list(collating.filtered(loader.program, loader))
    if emptied and _may_give_none(loader):
        yield from (_of_collate(loader, found) for found in emptied)
    if loader.api.positional and collating.is_default(loader):
        yield from (_of_sample(loader, instance, found) for instance, found in _samples(loader))


def _samples(loader: Loader) -> Iterator[tuple[Instance, NoneReturn]]:
    """The places by which the datasets of a loader give None."""
    for instance in datasets.sampled_by(loader.program, loader):
        yield from ((instance, place) for place in _nones(loader, instance))


def _nones(loader: Loader, instance: Instance) -> Iterator[NoneReturn]:
    method = classes.method(loader.program.evaluator, instance.cls, "__getitem__")
    return returns.none_returns(loader.program, Frame(method, instance)) if method is not None else iter(())


def _may_give_none(loader: Loader) -> bool:
    """Whether a loader's samples may be None: a filter over datasets that give none is mere caution."""
    read = datasets.sampled_by(loader.program, loader)
    if not read or is_unknown(loader.dataset_values()):
        read = [Instance(dataset.cls) for dataset in loader.program.facts.datasets]
    return any(True for instance in read for _ in _nones(loader, instance))


def _of_sample(loader: Loader, instance: Instance, found: NoneReturn) -> Finding:
    name = instance.cls.name
    through = "" if re.search(rf"\b{name}\.__getitem__\b", found.what) else f"{name}.__getitem__ hands it on, "
    return RULE.finding(
        found.location,
        f"{found.what}, {through}and the default collate cannot put None into a batch",
        help="raise an error that names the sample, or pass a collate_fn that leaves None out and survives when all is",
        related=[*found.way, loader.related()],
        symbol=instance.cls.qualname,
        evidence=found.what,
    )


def _of_collate(loader: Loader, found: Filtered) -> Finding:
    return RULE.finding(
        found.location,
        f"{found.step.scope.qualname} leaves out None and hands on a list that is empty when all of a batch is None: "
        "that raises",
        help="test what is left: return None for an empty batch, and skip that in the loop; or draw another sample",
        related=[Related("None is left out here", found.filter_location), loader.related()],
        symbol=found.step.scope.qualname,
        evidence="collate_fn",
    )
