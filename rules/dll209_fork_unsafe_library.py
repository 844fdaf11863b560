"""DLL209 fork-unsafe-library

## What it does

Reports calls in forked workers that wait for threads which only main has: `torch.set_num_threads()` with more than one
thread, Polars queries after main has used Polars, `ray.get()` and `.remote()`, batches of texts for a fast tokenizer
that main has used, with `TOKENIZERS_PARALLELISM=true`. One thread in the worker, workers that
are spawned, and the Polars methods without threads (rows, slices, `select`) are fine.

## Why it breaks workers

A fork copies the memory of main, not its threads. The pools of OpenMP, Polars and Ray look as if they were running, and
the first task that is handed to them is never done: the worker hangs, and the loader with it, without a message, every
time.

## Example

```python
import polars as pl
from torch.utils.data import Dataset


class Events(Dataset):
    def __init__(self, path):
        self.events = pl.read_parquet(path).sort("time")

    def __len__(self):
        return 1000

    def __getitem__(self, user):
        return self.events.filter(pl.col("user") == user)["value"].to_torch()
```

## Use instead

```python
import polars as pl
from torch.utils.data import Dataset


class Events(Dataset):
    def __init__(self, path):
        events = pl.read_parquet(path).sort("time")
        self.values = [part["value"].to_numpy() for part in events.partition_by("user")]

    def __len__(self):
        return len(self.values)

    def __getitem__(self, user):
        return self.values[user]
```

## When to ignore

When the workers are spawned in a way that does not show in the source, or main never computes before they start.

## References

- Measured on torch 2.13, polars 2.1 and tokenizers 0.23: each hangs in every run under fork, none under spawn
- https://docs.pola.rs/user-guide/misc/multiprocessing/
- https://github.com/ray-project/ray/issues/13407
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.facts import WorkerEntry
from dllint.code.processes import forking
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL209",
    name="fork-unsafe-library",
    severity=Severity.ERROR,
    failure=Failure.STALL,
    since="0.1",
    basis=proven("fork"),
)


@RULE.check
def fork_unsafe_library(entry: WorkerEntry) -> Iterator[Finding]:
    """Yield the calls that hang in a forked worker."""
    if not entry.may_fork:
        return
    for wait in forking.waits(entry):
        started = wait.started
        used = [Related("used in main here", started.frame.scope.module.location(started.node))] if started else []
        yield RULE.finding(
            wait.step.scope.module.location(wait.call),
            wait.what,
            help=wait.help,
            related=[*used, *entry.way(wait.step)],
            symbol=wait.step.scope.qualname,
            evidence=wait.what.partition("(")[0],
            severity=Severity.ERROR if wait.certain else Severity.WARNING,
        )
