"""DLL704 shm-on-disk

## What it does

Reports a volume on disk at /dev/shm of a container that trains: an emptyDir without `medium: Memory`, a named
volume or a folder, a persistent volume claim, or `VOLUME /dev/shm` in a Dockerfile.

## Why it breaks workers

It takes the place of the tmpfs, so that the 64 MB limit is gone, and each batch goes through a file system on disk:
loading is slow, the disk wears, and a full disk kills the workers (`No space left on device`). With `VOLUME` docker
also ignores `--shm-size` of every run.

## Example

```yaml
apiVersion: v1
kind: Pod
metadata:
  name: trainer
spec:
  containers:
    - name: trainer
      image: pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime
      command: [python, train.py]
      volumeMounts:
        - name: dshm
          mountPath: /dev/shm
  volumes:
    - name: dshm
      emptyDir: {}
```

## Use instead

```yaml
apiVersion: v1
kind: Pod
metadata:
  name: trainer
spec:
  containers:
    - name: trainer
      image: pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime
      command: [python, train.py]
      resources:
        limits:
          memory: 32Gi
      volumeMounts:
        - name: dshm
          mountPath: /dev/shm
  volumes:
    - name: dshm
      emptyDir:
        medium: Memory
        sizeLimit: 8Gi
```

## When to ignore

When the folder of the host is a tmpfs that dllint cannot know of.

## References

- https://kubernetes.io/docs/concepts/storage/volumes/#emptydir
- moby, `daemon/container/container_unix.go`, `HasMountFor("/dev/shm")`
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import read
from dllint.deploy.advice import size_for
from dllint.deploy.training import Training
from dllint.deploy.workload import ShmSource
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL704",
    name="shm-on-disk",
    severity=Severity.WARNING,
    failure=Failure.SHARED_MEMORY,
    since="0.1",
    basis=read("the source of moby, `HasMountFor` in `daemon/container/container_unix.go`"),
)


@RULE.check
def shm_on_disk(training: Training) -> Iterator[Finding]:
    """Report a workload whose /dev/shm is a volume on disk."""
    workload = training.workload
    if workload.shm.source is not ShmSource.DISK:
        return
    yield RULE.finding(
        workload.shm.at or workload.at,
        f"/dev/shm of {training.subject} is a volume on disk, not memory",
        help=workload.launcher.says(size_for(training)),
        related=training.related(),
        symbol=workload.name,
        evidence="disk",
    )
