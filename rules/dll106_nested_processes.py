"""DLL106 nested-processes

## What it does

Reports code in DataLoader workers that starts processes through multiprocessing: pools, `Process.start()`, process
executors, managers, loaders with workers of their own. Also the mirror image: a loader with workers in a function that
is mapped over a `multiprocessing.Pool` or over joblib's processes. Threads, `subprocess`, `os.fork` and joblib within a
worker are fine, and so is a loader in the processes of a `ProcessPoolExecutor`.

## Why it breaks workers

A worker is a daemon, and so is each process of a pool: `AssertionError: daemonic processes are not allowed to have
children`, whatever the start method. In joblib's loky processes a loader with workers ends with `AttributeError:
'Process' object has no attribute 'env'`.

## Example

```python
from multiprocessing import Pool

from torch.utils.data import Dataset


class Patches(Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, i):
        with Pool(4) as pool:
            return pool.map(abs, [i, -i])
```

## Use instead

```python
from multiprocessing.pool import ThreadPool

from torch.utils.data import Dataset


class Patches(Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, i):
        with ThreadPool(4) as pool:
            return pool.map(abs, [i, -i])
```

## When to ignore

When the code is only ever reached with `num_workers=0`, in a way that does not show in the source.

## References

- Run on torch 2.13 under fork, spawn and forkserver: Pool, Process, ProcessPoolExecutor, Manager, DataLoader fail
- https://github.com/pytorch/pytorch/issues/15950
- https://github.com/pytorch/pytorch/issues/44687
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.processes.nested import Childless
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL106",
    name="nested-processes",
    severity=Severity.ERROR,
    failure=Failure.WORKER_DIED,
    since="0.1",
    basis=proven("fork", "spawn", "forkserver"),
)

_IN_WORKER = "use threads (multiprocessing.pool.ThreadPool), or leave the parallel work to num_workers"
_IN_POOL = "num_workers=0 in functions that a pool runs, or run them in a ProcessPoolExecutor"


@RULE.check
def nested_processes(code: Childless) -> Iterator[Finding]:
    """Yield what starts processes in a process that may have no children."""
    where = "a DataLoader worker" if code.is_worker else "a pool's process"
    for start in code.starts():
        yield RULE.finding(
            start.location,
            f"{start.what} starts processes in {where}: {start.error}",
            help=_IN_WORKER if code.is_worker else _IN_POOL,
            related=start.way,
            symbol=start.symbol,
            evidence=start.what,
        )
