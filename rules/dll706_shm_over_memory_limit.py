"""DLL706 shm-over-memory-limit

## What it does

Reports shared memory that is larger than the memory limit of the container that writes to it.

## Why it breaks workers

Pages in /dev/shm count against the container's memory. Long before such a /dev/shm is full, the kernel kills a
worker: `DataLoader worker (pid N) is killed by signal: Killed`.

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
      resources:
        limits:
          memory: 4Gi
      volumeMounts:
        - name: dshm
          mountPath: /dev/shm
  volumes:
    - name: dshm
      emptyDir:
        medium: Memory
        sizeLimit: 8Gi
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

When the loaders are known to stay far below both.

## References

- https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/
- https://docs.kernel.org/filesystems/tmpfs.html
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import read
from dllint.deploy.sizes import shown
from dllint.deploy.training import Training
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL706",
    name="shm-over-memory-limit",
    severity=Severity.ERROR,
    failure=Failure.WORKER_DIED,
    since="0.1",
    basis=read("the documentation of Linux on tmpfs, and of Kubernetes on memory limits"),
)


@RULE.check
def shm_over_memory_limit(training: Training) -> Iterator[Finding]:
    """Report a size that the memory limit cuts off."""
    workload = training.workload
    size, limit = workload.shm.size, workload.memory_limit
    if size is None or limit is None or size.value is None or limit.value is None or size.value <= limit.value:
        return
    yield RULE.finding(
        size.at,
        f"/dev/shm of {training.subject} may grow to {shown(size.value)}, but its memory limit is {shown(limit.value)}",
        help="raise the memory limit above shared memory plus what the processes need, or lower the size",
        related=[Related(f"memory is limited to {shown(limit.value)} here", limit.at), *training.related()],
        symbol=workload.name,
        evidence=size.text,
    )
