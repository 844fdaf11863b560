"""DLL411 excessive-prefetch

## What it does

Reports a loader that may hold more batches at once than `max-batches-in-flight` (128 unless the settings say
otherwise): `num_workers` times `prefetch_factor`, which is 2 where it is left out. Where that is due to the number of
workers alone, DLL407 says so instead.

## Why it breaks workers

Each worker prepares `prefetch_factor` batches ahead, whether or not main keeps up. All of them lie in shared memory,
two more beside them: `(num_workers * prefetch_factor + 2)` batches. When memory ends, the kernel kills a worker
(`RuntimeError: DataLoader worker (pid 4242) is killed by signal: Killed.`), or `/dev/shm` is full. More batches ahead
do not make slow workers faster.

## Example

```python
from torch.utils.data import DataLoader


def batches(dataset):
    return DataLoader(dataset, batch_size=256, num_workers=16, prefetch_factor=32)
```

## Use instead

```python
from torch.utils.data import DataLoader


def batches(dataset):
    return DataLoader(dataset, batch_size=256, num_workers=16, prefetch_factor=4)
```

## When to ignore

When batches are small, and their loading times differ so much that a long queue pays: raise `max-batches-in-flight`.

## References

- Measured on torch 2.13: peak of shared memory `num_workers * prefetch_factor + 2` batches
- https://pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.language.values import bounds
from dllint.code.loaders.loader import Loader, Option
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL411",
    name="excessive-prefetch",
    severity=Severity.WARNING,
    failure=Failure.WORKER_DIED,
    since="0.1",
    basis=proven(),
)

_DEFAULT_FACTOR = 2
"""What torch takes where `prefetch_factor` is left out or None, and there are workers."""


@RULE.check
def excessive_prefetch(loader: Loader) -> Iterator[Finding]:
    """Yield the loaders that hold more batches at once than the settings allow."""
    settings = loader.program.settings
    workers, factors = _numbers(loader.workers), _factors(loader.option("prefetch_factor"))
    if not workers or not factors:
        return
    # Which goes with which is not known: the larger of one meets at least the smaller of the other.
    count, factor = max((max(workers), min(factors)), (min(workers), max(factors)), key=lambda pair: pair[0] * pair[1])
    if count * factor <= settings.max_batches_in_flight:
        return
    if factor <= _DEFAULT_FACTOR and count > settings.max_workers:
        return  # too many workers: DLL407
    yield RULE.finding(
        loader.where("prefetch_factor"),
        f"{count} workers with {factor} batches each hold {count * factor} batches at once "
        f"(max-batches-in-flight is {settings.max_batches_in_flight})",
        help="lower prefetch_factor to 2 or 4: more batches ahead take memory, and load no faster",
        related=[Related("num_workers is set here", loader.where("num_workers")), *loader.context_related()],
        symbol=loader.symbol,
        evidence="prefetch_factor",
    )


def _factors(option: Option) -> list[int]:
    """The prefetch factors that are known, torch's own default among them."""
    if option.absent:
        return [_DEFAULT_FACTOR]
    found = _numbers(option)
    return [*found, _DEFAULT_FACTOR] if None in option.constants() else found


def _numbers(option: Option) -> list[int]:
    """The least that each value of an option can be; empty if that is not known of all."""
    if not option.is_known:
        return []
    spans = [bounds(value) for value in option.defaults]
    least = [span[0] for span in spans if span is not None and span[0] is not None]
    return [int(number) for number in least if 0 < number < math.inf]
