"""DLL404 conflicting-loader-options

## What it does

Reports options of one loader that DataLoader refuses together: `shuffle=True` beside a `sampler`; a `batch_sampler`
beside another batch size, `shuffle=True`, a `sampler` or `drop_last=True`; `drop_last=True` without batches;
`shuffle=True` or a sampler over an `IterableDataset`. Only values count: `shuffle=False` beside a sampler is legal.

## Why it breaks workers

DataLoader raises a ValueError when it is built: `sampler option is mutually exclusive with shuffle`, `batch_sampler
option is mutually exclusive with batch_size, shuffle, sampler, and drop_last`, `batch_size=None option disables
auto-batching and is mutually exclusive with drop_last`, `DataLoader with IterableDataset: expected unspecified
shuffle option`. That is often only on the one code path that passes a sampler.

## Example

```python
from torch.utils.data import DataLoader, RandomSampler


def batches(dataset):
    return DataLoader(dataset, batch_size=8, sampler=RandomSampler(dataset), shuffle=True)
```

## Use instead

```python
from torch.utils.data import DataLoader, RandomSampler


def batches(dataset, sampler=None):
    return DataLoader(dataset, batch_size=8, sampler=sampler, shuffle=sampler is None)
```

## When to ignore

Never for the pairs that are spelled out: they fail whenever the line runs.

## References

- torch 2.13, `torch/utils/data/dataloader.py`, `DataLoader.__init__`
- https://github.com/flairNLP/flair/issues/2737
- https://github.com/meta-pytorch/opacus/issues/352
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code import apis
from dllint.code.language import classes
from dllint.code.language.values import Const, Instance, Product, Unknown
from dllint.code.loaders import repairs
from dllint.code.loaders.configs import is_config
from dllint.code.loaders.loader import Loader
from dllint.finding import Failure, Finding, Fix, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL404",
    name="conflicting-loader-options",
    severity=Severity.ERROR,
    failure=Failure.REFUSED_ARGUMENTS,
    since="0.1",
    basis=proven(),
)


@RULE.check
def conflicting_loader_options(loader: Loader) -> Iterator[Finding]:
    """Yield each option that torch refuses beside another one of the same loader."""
    if "dataset" not in loader.api.positional and not is_config(loader):
        return
    if _is_iterable(loader):
        yield from _over_iterable(loader)
        return
    if _given(loader, "batch_sampler"):
        yield from _beside_batch_sampler(loader)
    elif _given(loader, "sampler") and _is_true(loader, "shuffle"):
        yield _finding(loader, "shuffle", "sampler", "shuffle=True and a sampler exclude each other")
    if _is_none(loader, "batch_size") and _is_true(loader, "drop_last"):
        yield _finding(loader, "drop_last", "batch_size", "drop_last=True needs batches, but batch_size is None")


def _over_iterable(loader: Loader) -> Iterator[Finding]:
    if _is_true(loader, "shuffle"):
        yield _finding(loader, "shuffle", "dataset", "an IterableDataset cannot be shuffled by the loader")
    for name in ("sampler", "batch_sampler"):
        if _given(loader, name):
            yield _finding(loader, name, "dataset", f"an IterableDataset takes no {name}")


def _beside_batch_sampler(loader: Loader) -> Iterator[Finding]:
    size = loader.option("batch_size")
    if size.absent is False and size.is_known and all(c != 1 for c in size.constants()) and size.constants():
        yield _finding(loader, "batch_size", "batch_sampler", "batch_size and a batch_sampler exclude each other")
    for name in ("shuffle", "drop_last"):
        if _is_true(loader, name):
            yield _finding(loader, name, "batch_sampler", f"{name}=True and a batch_sampler exclude each other")
    sure = loader.option("sampler").is_surely_given() or loader.option("batch_sampler").is_surely_given()
    if sure and _given(loader, "sampler"):
        yield _finding(loader, "sampler", "batch_sampler", "a sampler and a batch_sampler exclude each other")


def _given(loader: Loader, name: str) -> bool:
    """Whether it is passed, and not as None, on some way that the project has."""
    option = loader.option(name)
    if option.absent is True:
        return False
    return any(not isinstance(v, Unknown) and not (isinstance(v, Const) and v.value is None) for v in option.defaults)


def _is_true(loader: Loader, name: str) -> bool:
    option = loader.option(name)
    return option.absent is False and option.is_certainly(True)


def _is_none(loader: Loader, name: str) -> bool:
    option = loader.option(name)
    return option.absent is False and all(isinstance(v, Const) and v.value is None for v in option.values)


def _is_iterable(loader: Loader) -> bool:
    ev = loader.program.evaluator
    found = loader.dataset_values()
    for value in found:
        if isinstance(value, Product) and value.name in apis.ITERABLE_BASES:
            continue
        if isinstance(value, Instance) and classes.is_subclass(ev, value.cls, apis.ITERABLE_BASES):
            continue
        return False
    return bool(found)


def _finding(loader: Loader, name: str, other: str, text: str) -> Finding:
    return RULE.finding(
        loader.where(name),
        f"{text}: ValueError when the loader is built",
        help=f"drop {name}, or decide it by {other}",
        related=[Related(f"{other} is given here", loader.where(other)), *loader.context_related()],
        symbol=loader.symbol,
        evidence=f"{name}/{other}",
        fix=_fix(loader, name, other),
    )


def _fix(loader: Loader, name: str, other: str) -> Fix | None:
    """Let the sampler alone decide the order. Where it may be None on another way, that changes the order there."""
    if name != "shuffle" or other == "dataset" or not repairs.is_literally(loader, "shuffle", True):
        return None
    return repairs.removal(loader, "shuffle", safe=repairs.is_made_in_the_call(loader, other))
