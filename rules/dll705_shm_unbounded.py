"""DLL705 shm-unbounded

## What it does

Reports a memory volume at /dev/shm without a size limit in a container that trains and whose memory nothing limits
either. Where a memory limit bounds it, the finding is one of severity info, and shown only where this rule is
selected.

## Why it breaks workers

Such a tmpfs can take all of the node's memory. Its pages belong to the container, and with no limit the node runs out
first: the kernel kills some process of some pod, a worker with luck: `DataLoader worker (pid ...) is killed by
signal: Killed`.

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
      emptyDir:
        medium: Memory
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

When the node runs nothing else.

## References

- https://kubernetes.io/docs/concepts/storage/volumes/#emptydir
- kubelet, `pkg/volume/emptydir/empty_dir.go`, `calculateEmptyDirMemorySize`
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import read
from dllint.deploy.advice import spelled
from dllint.deploy.training import Training
from dllint.deploy.workload import ShmSource
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL705",
    name="shm-unbounded",
    severity=Severity.WARNING,
    failure=Failure.WORKER_DIED,
    since="0.1",
    basis=read("the source of the kubelet, `calculateEmptyDirMemorySize`"),
)


@RULE.check
def shm_unbounded(training: Training) -> Iterator[Finding]:
    """Report a memory volume that nothing bounds."""
    workload = training.workload
    shm = workload.shm
    if shm.source is not ShmSource.MEMORY or shm.size is not None or shm.at is None:
        return
    if not workload.launcher.takes_all:
        return
    limit = workload.memory_limit
    bound = "nothing limits the container's memory" if limit is None else "only the container's memory limit bounds it"
    yield RULE.finding(
        shm.at,
        f"/dev/shm of {training.subject} is memory without a size limit, and {bound}",
        help=f"give the volume a size: {spelled(training)}",
        severity=Severity.WARNING if limit is None else Severity.INFO,
        related=training.related(),
        symbol=workload.name,
        evidence="unbounded",
    )
