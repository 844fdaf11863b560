"""DLL403 worker-option-without-workers

## What it does

Reports `multiprocessing_context` or a positive `timeout` on a loader whose `num_workers` is 0, or is 0 on some way.

## Why it breaks workers

A context without workers is refused when the loader is built (`ValueError: multiprocessing_context can only be used
with multi-process loading`). A timeout without workers passes there and fails at the first iteration, with
`AssertionError: _SingleProcessDataLoaderIter requires timeout == 0` (older torch: without a text).

## Example

```python
from torch.utils.data import DataLoader


def batches(dataset):
    return DataLoader(dataset, batch_size=8, num_workers=0, timeout=60)
```

## Use instead

```python
from torch.utils.data import DataLoader


def batches(dataset, workers=0):
    return DataLoader(dataset, batch_size=8, num_workers=workers, timeout=60 if workers else 0)
```

## When to ignore

When the caller makes sure that there are workers, in a way that does not show in the source.

## References

- torch 2.13, `torch/utils/data/dataloader.py`, `DataLoader.multiprocessing_context` and `_SingleProcessDataLoaderIter`
- https://github.com/facebookresearch/ClassyVision/issues/607
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.language.values import bounds
from dllint.code.loaders import repairs
from dllint.code.loaders.loader import Loader, Option
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL403",
    name="worker-option-without-workers",
    severity=Severity.ERROR,
    failure=Failure.REFUSED_ARGUMENTS,
    since="0.1",
    basis=proven(),
)

_DEFAULTS = {"multiprocessing_context": "None", "timeout": "0"}


@RULE.check
def worker_option_without_workers(loader: Loader) -> Iterator[Finding]:
    """Yield the options of workers on loaders that have none."""
    if not loader.may_have_no_workers:
        return
    if loader.is_refused_without_workers("multiprocessing_context"):
        yield _finding(
            loader,
            "multiprocessing_context",
            "multiprocessing_context can only be used with workers",
            "ValueError when the loader is built",
        )
    if _is_positive(loader.option_without_workers("timeout")):
        yield _finding(loader, "timeout", "a timeout needs workers", "AssertionError at the first iteration")


def _is_positive(timeout: Option) -> bool:
    spans = [bounds(value) for value in timeout.defaults]
    return timeout.is_surely_given() and all(span is not None and (span[0] or 0) > 0 for span in spans)


def _finding(loader: Loader, name: str, claim: str, symptom: str) -> Finding:
    return RULE.finding(
        loader.where(name),
        f"{claim}, but num_workers {loader.zero_phrase()}: {symptom}",
        help=f"pass {name} only if num_workers > 0",
        related=loader.zero_related(),
        symbol=loader.symbol,
        evidence=name,
        fix=repairs.only_with_workers(loader, name, otherwise=_DEFAULTS[name]),
    )
