"""DLL702 shm-too-small

## What it does

Reports shared memory that is set to 64 MB or less, which is the default again, or to less than the loaders of the
code that runs there can fill.

## Why it breaks workers

A loader needs (workers x prefetch_factor + 2) times the bytes of the tensors in a batch: measured over 24
combinations, the peak lay at that number. Each rank that `torchrun --nproc_per_node` starts in a container has such a
loader of its own, and all of them share one /dev/shm. When that is full, `DataLoader worker (pid ...) is killed by
signal: Bus error` (torch up to 2.9), or the worker raises `unable to allocate shared memory(shm) for file
</torch_...>: No space left on device (28)` (from 2.10). Where a `collate_fn` of one's own makes the batch, that
happens while the batch is sent, and main waits for it for ever.

## Example

```yaml
services:
  trainer:
    image: pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime
    command: python train.py
    shm_size: 64m
```

## Use instead

```yaml
services:
  trainer:
    image: pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime
    command: python train.py
    shm_size: '8gb'
```

## When to ignore

When the batches are known to be smaller than dllint reads off the code.

## References

- https://github.com/pytorch/pytorch#docker-image
- https://docs.docker.com/reference/compose-file/services/#shm_size
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.deploy.advice import size_for
from dllint.deploy.docker_options import NO_IPC
from dllint.deploy.sizes import DEFAULT_SHM, shown
from dllint.deploy.training import Training
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL702",
    name="shm-too-small",
    severity=Severity.ERROR,
    failure=Failure.SHARED_MEMORY,
    since="0.1",
    basis=proven(),
)


@RULE.check
def shm_too_small(training: Training) -> Iterator[Finding]:
    """Report a size that is no more than the default, or less than what the code needs."""
    workload = training.workload
    size = workload.shm.size
    if size is None or size.value is None:
        return
    demand = training.demand
    without = size.text == NO_IPC
    if without:
        reason = "for the IPC mode `none` mounts nothing there"
    elif size.value <= DEFAULT_SHM:
        reason = "which is the default again" if size.value == DEFAULT_SHM else "less than the default of 64 MB"
    elif demand is not None and size.value < demand.bytes:
        reason = f"but its loader can need {demand.phrase}"
    else:
        return
    yield RULE.finding(
        size.at,
        f"{training.subject} gets {shown(size.value)} of /dev/shm, {reason}",
        help=f"{'drop the IPC mode; ' if without else ''}{workload.launcher.says(size_for(training))}",
        related=training.related(),
        symbol=workload.name,
        evidence=size.text,
    )
