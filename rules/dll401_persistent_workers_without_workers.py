"""DLL401 persistent-workers-without-workers

## What it does

Reports `persistent_workers=True` on a loader whose `num_workers` is 0, or is 0 on some way: by default, on one
branch, or as the default of an option.

## Why it breaks workers

DataLoader refuses the pair when it is built: `ValueError: persistent_workers option needs num_workers > 0`. It is often
met only when somebody turns the workers off to debug, or runs with the default options.

## Example

```python
from torch.utils.data import DataLoader


def batches(dataset):
    return DataLoader(dataset, batch_size=8, num_workers=0, persistent_workers=True)
```

## Use instead

```python
from torch.utils.data import DataLoader


def batches(dataset, workers=0):
    return DataLoader(dataset, batch_size=8, num_workers=workers, persistent_workers=workers > 0)
```

## When to ignore

When the caller makes sure that there are workers, in a way that does not show in the source.

## References

- torch 2.13, `torch/utils/data/dataloader.py`, `DataLoader.__init__`
- https://github.com/mllam/neural-lam/issues/234
- https://github.com/bmaltais/kohya_ss/issues/955
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.loaders import repairs, switched_off
from dllint.code.loaders.loader import Loader
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL401",
    name="persistent-workers-without-workers",
    severity=Severity.ERROR,
    failure=Failure.REFUSED_ARGUMENTS,
    since="0.1",
    basis=proven(),
)


@RULE.check
def persistent_workers_without_workers(loader: Loader) -> Iterator[Finding]:
    """Yield the loaders that keep workers which they do not have."""
    persistent = loader.option_without_workers("persistent_workers")
    if persistent.absent or not any(value is True for value in persistent.constants()):
        return
    certain = persistent.is_certainly(True) and persistent.absent is False
    if not certain and not (loader.defaults_to_no_workers and loader.is_decided_apart(persistent)):
        return
    flag = None if loader.may_have_no_workers else switched_off.flag_with(loader, "persistent_workers")
    if not loader.may_have_no_workers and flag is None:
        return
    phrase = loader.zero_phrase() if flag is None else f"is 0 with {flag}"
    yield RULE.finding(
        loader.where("persistent_workers"),
        f"persistent_workers=True needs workers, but num_workers {phrase}: ValueError when the loader is built",
        help="pass persistent_workers=num_workers > 0",
        related=loader.zero_related(),
        symbol=loader.symbol,
        evidence="persistent_workers",
        fix=repairs.only_with_workers(loader, "persistent_workers"),
    )
