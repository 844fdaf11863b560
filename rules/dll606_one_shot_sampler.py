"""DLL606 one-shot-sampler

## What it does

Reports a `sampler` or `batch_sampler` that can be passed only once: a generator, `iter(...)`, `map`, `filter`, `zip`,
and what `itertools` gives. Lists, ranges, Sampler objects and endless iterators are fine, and so is a loader that is
seen to be passed once only.

## Why it breaks workers

The loader calls `iter(sampler)` anew for each epoch. A generator gives itself, used up: the first epoch is right, and
each later one ends at once, without an error (torch 2.13: 100, 0, 0 samples), so that training goes on with nothing.

## Example

```python
from torch.utils.data import DataLoader


def train(dataset, order, step):
    loader = DataLoader(dataset, batch_size=8, sampler=(i for i in order), num_workers=2)
    for epoch in range(10):
        for batch in loader:
            step(batch)
```

## Use instead

```python
from torch.utils.data import DataLoader


def train(dataset, order, step):
    loader = DataLoader(dataset, batch_size=8, sampler=list(order), num_workers=2)
    for epoch in range(10):
        for batch in loader:
            step(batch)
```

## When to ignore

When the loader is passed over once in its life, in a way that does not show in the source.

## References

- https://docs.pytorch.org/docs/stable/data.html#data-loading-order-and-sampler
- Run on torch 2.13: the epochs of a loader over a generator have 100, 0 and 0 samples
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.language import iterators
from dllint.code.language.values import Value
from dllint.code.loaders import passes
from dllint.code.loaders.loader import Loader
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL606",
    name="one-shot-sampler",
    severity=Severity.ERROR,
    failure=Failure.WRONG_SAMPLES,
    since="0.1",
    basis=proven(),
)


@RULE.check
def one_shot_sampler(loader: Loader) -> Iterator[Finding]:
    """Yield the samplers of a loader that its second epoch finds used up."""
    for name in ("sampler", "batch_sampler"):
        if name not in loader.arguments:
            continue
        value = next((v for v in loader.option(name).values if _is_used_up(loader, v)), None)
        if value is None:
            continue
        yield RULE.finding(
            loader.where(name),
            f"{name} is {iterators.one_shot(value)}, which can be passed once: every epoch after the first is empty",
            help=f"pass a list, or an object whose __iter__ starts anew: {name}=list(...)",
            related=loader.context_related(),
            symbol=loader.symbol,
            evidence=name,
        )


def _is_used_up(loader: Loader, value: Value) -> bool:
    if not iterators.one_shot(value) or iterators.ends(loader.program, value) is False:
        return False
    return passes.uses_up(loader.program, loader, value)
