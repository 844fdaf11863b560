"""DLL703 shm-not-effective

## What it does

Reports shared memory that is set where it has no effect: for the build of an image (`build.shm_size`, `docker build
--shm-size`, a bake file, `RUN mount`, /etc/fstab in a Dockerfile), by a memory volume that this container does not
mount at /dev/shm, by a `mount` in the command or entry script of a container that is not privileged, in a swarm stack,
on Fargate, or beside a setting that takes its place.

## Why it breaks workers

The container still starts with 64 MB of /dev/shm, although somebody took care of it: `DataLoader worker (pid ...) is
killed by signal: Bus error` comes back (from torch 2.10 on `unable to allocate shared memory(shm)`), and the setting
hides the reason.

## Example

```yaml
services:
  trainer:
    image: pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime
    command: python train.py
    build:
      context: .
      shm_size: '8gb'
```

## Use instead

```yaml
services:
  trainer:
    image: pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime
    command: python train.py
    build:
      context: .
    shm_size: '8gb'
```

## When to ignore

When the build itself needs the memory, and the run gets it from somewhere that dllint does not see.

## References

- https://docs.docker.com/reference/compose-file/build/#shm_size
- https://github.com/docker/compose/issues/6333
- https://github.com/moby/moby/issues/26714
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import reported
from dllint.deploy.advice import size_for
from dllint.deploy.training import Training
from dllint.deploy.usage import is_run
from dllint.deploy.workload import DOCKERFILE, FlawKind, ShmSource
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL703",
    name="shm-not-effective",
    severity=Severity.ERROR,
    failure=Failure.SHARED_MEMORY,
    since="0.1",
    basis=reported("docker/compose#6333", "moby/moby#26714"),
)

_ENOUGH = (ShmSource.SIZE, ShmSource.MEMORY, ShmSource.HOST, ShmSource.OTHER_CONTAINER, ShmSource.PLATFORM)


@RULE.check
def shm_not_effective(training: Training) -> Iterator[Finding]:
    """Report the settings without effect of a workload that is given nothing else."""
    workload = training.workload
    if workload.shm.source in _ENOUGH or (workload.launcher is DOCKERFILE and is_run(training)):
        return
    for flaw in workload.flaws:
        if flaw.kind is FlawKind.NOT_EFFECTIVE:
            yield RULE.finding(
                flaw.at,
                f"{flaw.clause}; {training.subject} still runs on the default 64 MB of /dev/shm",
                help=workload.launcher.says(size_for(training), flaw.instead),
                related=training.related(),
                symbol=workload.name,
                evidence="no effect",
            )
