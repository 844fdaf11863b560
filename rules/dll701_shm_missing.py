"""DLL701 shm-missing

## What it does

Reports a container that trains with PyTorch and that nobody gives shared memory: it runs with the 64 MB of /dev/shm
that docker, podman, containerd and CRI-O give by default. It reads `docker run` commands wherever they are written,
compose services, Kubernetes pod templates in any kind, CI jobs, dev containers and the job files of clouds.

## Why it breaks workers

Workers hand each batch over through files in /dev/shm. A loader needs (workers x prefetch_factor + 2) times the
bytes of a batch there; with 64 MB that is too little for most image batches. torch up to 2.9 dies with `DataLoader
worker (pid N) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory.`
From 2.10 on the worker raises `unable to allocate shared memory(shm) ... No space left on device (28)`, and with a
`collate_fn` of one's own the loader hangs. `torch.multiprocessing.set_sharing_strategy("file_system")` does not
help: its files lie in /dev/shm, too.

## Example

```yaml
services:
  trainer:
    image: pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime
    command: python train.py
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

Where the image is all that speaks for it (it carries PyTorch, a shell is opened in it, and no loader of the project is
seen to have workers, or another container is given memory to train in), the finding is a warning and says "may train".
So it is for a script of the project in such an image, or that a launcher starts once (`torchrun --nproc_per_node=1`),
of which nobody sees how many workers its loaders have: a config that is not there, a loader of another library.

When the batches are NumPy arrays (these go through pipes), or small enough for 64 MB with certainty. The rule is silent
where it can read the sizes of all batches off the code, and all of them together fill less than half of the 64 MB.

## References

- https://github.com/pytorch/pytorch#docker-image
- https://docs.pytorch.org/docs/stable/multiprocessing.html#strategy-management
- https://docs.docker.com/reference/cli/docker/container/run/ (`--shm-size`)
- https://github.com/kubernetes/kubernetes/issues/28272
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.deploy.advice import size_for
from dllint.deploy.sizes import DEFAULT_SHM
from dllint.deploy.training import Training
from dllint.deploy.workload import DOCKERFILE, FlawKind, ShmSource
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL701",
    name="shm-missing",
    severity=Severity.ERROR,
    failure=Failure.SHARED_MEMORY,
    since="0.1",
    basis=proven(),
)


@RULE.check
def shm_missing(training: Training) -> Iterator[Finding]:
    """Report a training workload with the runtime's default."""
    workload = training.workload
    if workload.launcher is DOCKERFILE or workload.shm.source is not ShmSource.DEFAULT:
        return
    if training.fits(DEFAULT_SHM):
        return
    if any(flaw.kind is FlawKind.NOT_EFFECTIVE for flaw in workload.flaws):
        return
    severity = None if training.is_sure else Severity.WARNING
    demand = training.demand
    needs = ""
    if demand is not None and 2 * demand.bytes > DEFAULT_SHM:  # else it is another loader, of unknown need
        needs = f"; its loader can need {demand.phrase}"
    yield RULE.finding(
        workload.at,
        f"{training.subject} {training.verb(is_certain=training.is_sure)} PyTorch ({training.why})"
        f" on the default 64 MB of /dev/shm{needs}",
        severity=severity,
        help=workload.launcher.says(size_for(training)),
        related=training.related(),
        symbol=workload.name,
        evidence="default",
    )
