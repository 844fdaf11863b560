"""DLL710 workers-over-cpu-limit

## What it does

Reports a container that may use fewer processors than the code that it runs starts workers.

## Why it breaks workers

A CPU limit is a quota of time, which neither `os.cpu_count()` nor torch's own warning sees. Workers beyond it only
wait for one another; each still takes memory, shared memory and start-up time, and the throttled main process feeds
the GPU late.

## Example

```yaml
services:
  trainer:
    image: pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime
    command: python program.py --workers 16
    shm_size: '8gb'
    cpus: 2
```

```python
import argparse

from torch.utils.data import DataLoader


def main(dataset):
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=4)
    args = parser.parse_args()
    return DataLoader(dataset, batch_size=64, num_workers=args.workers)
```

## Use instead

```yaml
services:
  trainer:
    image: pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime
    command: python program.py --workers 16
    shm_size: '8gb'
    cpus: 16
```

```python
import argparse

from torch.utils.data import DataLoader


def main(dataset):
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=4)
    args = parser.parse_args()
    return DataLoader(dataset, batch_size=64, num_workers=args.workers)
```

## When to ignore

When the workers mostly wait for a network or a disk.

## References

- https://docs.kernel.org/admin-guide/cgroup-v2.html#cpu-interface-files
- https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.basis import read
from dllint.deploy.training import Training
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

if TYPE_CHECKING:
    from dllint.deploy.loader_runs import LoaderRun

RULE = Rule(
    code="DLL710",
    name="workers-over-cpu-limit",
    severity=Severity.WARNING,
    failure=Failure.SLOW,
    since="0.1",
    basis=read("the documentation of Linux on cgroups, `cpu.max`"),
)


@RULE.check
def workers_over_cpu_limit(training: Training) -> Iterator[Finding]:
    """Report a limit of processors below the number of workers."""
    limit = training.workload.cpu_limit
    if limit is None or limit.value is None or limit.value <= 0:
        return
    most = max(training.loaders, key=_processes, default=None)
    if most is None or _processes(most) <= limit.value:
        return
    of_each = f" in each of {most.ranks} ranks" if most.ranks > 1 else ""
    yield RULE.finding(
        limit.at,
        f"{training.subject} may use {limit.value:g} CPUs, but its loader starts {most.workers} workers{of_each}",
        help=f"raise the limit to {_processes(most)} or more, or start fewer workers",
        related=[most.related()],
        symbol=training.workload.name,
        evidence=limit.text,
    )


def _processes(loader: LoaderRun) -> int:
    """The workers of all ranks; 0 where that is not known."""
    return (loader.workers or 0) * loader.ranks
