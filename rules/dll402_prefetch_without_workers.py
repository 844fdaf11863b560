"""DLL402 prefetch-without-workers

## What it does

Reports a `prefetch_factor` on a loader whose `num_workers` is 0, or is 0 on some way.

## Why it breaks workers

From torch 2.0 on DataLoader refuses the pair when it is built: `ValueError: prefetch_factor option could only be
specified in multiprocessing`. With torch 1.x the default of 2 was accepted.

## Example

```python
from torch.utils.data import DataLoader


def batches(dataset):
    return DataLoader(dataset, batch_size=8, num_workers=0, prefetch_factor=4)
```

## Use instead

```python
from torch.utils.data import DataLoader


def batches(dataset, workers=0):
    return DataLoader(dataset, batch_size=8, num_workers=workers, prefetch_factor=4 if workers else None)
```

## When to ignore

When the caller makes sure that there are workers, in a way that does not show in the source.

## References

- torch 2.13, `torch/utils/data/dataloader.py`, `DataLoader.__init__`
- https://github.com/AnswerDotAI/ModernBERT/issues/38
- https://github.com/FudanNLP/fastNLP/issues/453
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.loaders import repairs, switched_off
from dllint.code.loaders.loader import Loader
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL402",
    name="prefetch-without-workers",
    severity=Severity.ERROR,
    failure=Failure.REFUSED_ARGUMENTS,
    since="0.1",
    basis=proven(),
)


@RULE.check
def prefetch_without_workers(loader: Loader) -> Iterator[Finding]:
    """Yield the loaders that prefetch with workers which they do not have."""
    refused = loader.is_refused_without_workers("prefetch_factor")
    flag = None if refused else switched_off.flag_with(loader, "prefetch_factor")
    if not refused and flag is None:
        return
    is_torch_1 = loader.program.pins_of(loader.module).torch_is_below((2, 0))
    if is_torch_1 and loader.option("prefetch_factor").constants() == [2]:
        return  # torch 1.x took its own default for "not given"
    phrase = loader.zero_phrase() if flag is None else f"is 0 with {flag}"
    yield RULE.finding(
        loader.where("prefetch_factor"),
        f"prefetch_factor needs workers, but num_workers {phrase}: ValueError when the loader is built",
        help="pass prefetch_factor only with workers: prefetch_factor=2 if num_workers > 0 else None",
        related=loader.zero_related(),
        symbol=loader.symbol,
        evidence="prefetch_factor",
        fix=repairs.only_with_workers(loader, "prefetch_factor", otherwise="2" if is_torch_1 else "None"),
    )
