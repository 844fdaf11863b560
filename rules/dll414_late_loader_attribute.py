"""DLL414 late-loader-attribute

## What it does

Reports an assignment to an attribute of a loader that is built already: `batch_size`, `sampler`, `batch_sampler`,
`drop_last`, `dataset` and `persistent_workers` are refused, `num_workers` on a loader that was built without workers
fails when it is iterated, and `shuffle` changes nothing.

## Why it breaks workers

A loader makes its sampler and batch sampler when it is built, and keeps them. It refuses a later change: `ValueError:
batch_size attribute should not be set after DataLoader is initialized`. A loader without workers has no
`prefetch_factor`, so that workers given to it later end in `TypeError: '<=' not supported between instances of
'NoneType' and 'int'` (in older torch `'>'`). `loader.shuffle = True` sets an attribute that nobody reads: the order
stays as it was.

## Example

```python
from torch.utils.data import DataLoader


def evaluate(dataset):
    loader = DataLoader(dataset, batch_size=8)
    loader.batch_size = 64
    return [len(batch) for batch in loader]
```

## Use instead

```python
from torch.utils.data import DataLoader


def evaluate(dataset):
    loader = DataLoader(dataset, batch_size=64)
    return [len(batch) for batch in loader]
```

## When to ignore

When a `__setattr__` of your own, not visible here, lets the change through.

## References

- torch 2.13, `torch/utils/data/dataloader.py`, `DataLoader.__setattr__`
- https://pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.loaders import late_attributes
from dllint.code.loaders.late_attributes import LateAttribute
from dllint.code.program import Program
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL414",
    name="late-loader-attribute",
    severity=Severity.ERROR,
    failure=Failure.REFUSED_ARGUMENTS,
    since="0.1",
    basis=proven(),
)


@RULE.check
def late_loader_attribute(program: Program) -> Iterator[Finding]:
    """Yield the assignments to attributes of loaders that are built already."""
    for late in late_attributes.find(program):
        message = _message(late)
        if message:
            yield RULE.finding(
                late.module.location(late.write.node),
                message,
                help=f"pass {late.write.name} when the loader is built; for another value build another loader",
                related=late.related(),
                symbol=late.frame.scope.qualname,
                evidence=late.write.name,
            )


def _message(late: LateAttribute) -> str:
    name = late.write.name
    if late.is_refused:
        return f"{name} cannot be set after the loader is built: ValueError"
    if name == "shuffle" and not late.is_of_project_class and not late.is_as_built:
        return "a built loader does not look at shuffle any more: its order stays what it was"
    if name == "num_workers" and late.gives_workers_to_loader_without:
        return "a loader built without workers has no prefetch_factor: TypeError when it is iterated"
    return ""
