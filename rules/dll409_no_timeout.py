"""DLL409 no-timeout

## What it does

Reports a loader with workers and no `timeout`. Off by default.

## Why it breaks workers

The main process waits for the next batch for as long as `timeout` says, and 0 means for ever. When a batch is lost (a
worker could not pickle it or could not put it in shared memory, or waits for a lock that nobody holds any more) the
run hangs without a word, and a job is paid for until its wall time ends. With a timeout it ends with
`RuntimeError: DataLoader timed out after 120 seconds`. Choose 60 seconds or more: the start of the workers counts.

## Example

```python
from torch.utils.data import DataLoader


def batches(dataset):
    return DataLoader(dataset, batch_size=8, num_workers=4)
```

## Use instead

```python
from torch.utils.data import DataLoader


def batches(dataset):
    return DataLoader(dataset, batch_size=8, num_workers=4, timeout=120)
```

## When to ignore

When one batch may take longer than any limit that is worth setting, or something else watches the run.

## References

- torch 2.13, `torch/utils/data/dataloader.py`, `_MultiProcessingDataLoaderIter._get_data`
- https://pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.loaders.loader import Loader
from dllint.code.processes import start_method
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL409",
    name="no-timeout",
    severity=Severity.INFO,
    failure=Failure.STALL,
    since="0.1",
    basis=proven(),
    opt_in=True,
)


@RULE.check
def no_timeout(loader: Loader) -> Iterator[Finding]:
    """Yield the loaders with workers that wait for a batch for ever."""
    if not loader.has_workers or not loader.takes("timeout") or start_method.uses_threads(loader):
        return
    if loader.module.is_test:
        return
    timeout = loader.option("timeout")
    if not timeout.is_certainly(False) or loader.has_own_iter:
        return
    yield RULE.finding(
        loader.where("timeout") if timeout.argument is not None else loader.made_at,
        "without a timeout a batch that a worker loses hangs the run for ever, and silently",
        help="pass timeout=120 (60 seconds or more: the start of the workers counts)",
        related=loader.context_related(),
        symbol=loader.symbol,
        evidence="timeout",
    )
