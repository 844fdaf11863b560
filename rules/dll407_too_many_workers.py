"""DLL407 too-many-workers

## What it does

Reports a fixed number of workers above `max-workers` (32 unless the settings say otherwise), and a bare
`os.cpu_count()` or a multiple of it.

## Why it breaks workers

`os.cpu_count()` counts the processors of the machine, whatever part of them this process may use: in a container, a
Slurm job or beside other ranks it starts many times too many workers. Each takes memory and start-up time, and
together they slow loading down; with several loaders a run can stall at the first batch. torch warns about it (`This
DataLoader will create 64 worker processes in total. Our suggested max number of worker in current system is 8`) only
for CPU sets, not for quotas.

## Example

```python
from torch.utils.data import DataLoader


def batches(dataset):
    return DataLoader(dataset, batch_size=64, num_workers=48)
```

## Use instead

```python
import os

from torch.utils.data import DataLoader


def batches(dataset):
    return DataLoader(dataset, batch_size=64, num_workers=min(8, len(os.sched_getaffinity(0))))
```

## When to ignore

When the program only ever runs on a machine that is known to have the processors; or raise `max-workers`.

## References

- torch 2.13, `torch/utils/data/dataloader.py`, `_check_worker_number_rationality`
- https://github.com/pyg-team/pytorch_geometric/pull/10805
- https://github.com/KevinMusgrave/pytorch-metric-learning/issues/361
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.language.values import Const, Number
from dllint.code.loaders.loader import Loader
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL407",
    name="too-many-workers",
    severity=Severity.WARNING,
    failure=Failure.SLOW,
    since="0.1",
    basis=proven(),
)


@RULE.check
def too_many_workers(loader: Loader) -> Iterator[Finding]:
    """Yield the loaders with more workers than a machine can be expected to serve."""
    limit = loader.program.settings.max_workers
    for value in loader.workers.defaults:
        if isinstance(value, Const) and isinstance(value.value, int) and value.value > limit:
            text = f"{value.value} workers are more than most machines can run (max-workers is {limit})"
        elif isinstance(value, Number) and value.cpus and value.high is None:
            text = "one worker for each processor of the machine, whatever part of it this process may use"
        else:
            continue
        yield RULE.finding(
            loader.where("num_workers"),
            text,
            help="make it an option with a small default; bound it by len(os.sched_getaffinity(0))",
            related=loader.context_related(),
            symbol=loader.symbol,
            evidence="num_workers",
        )
        return
