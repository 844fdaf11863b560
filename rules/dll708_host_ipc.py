"""DLL708 host-ipc

## What it does

Reports a container that trains in the IPC namespace of its host (`--ipc=host`, `hostIPC: true`), and a size beside
it, which is not used.

## Why it breaks workers

It does cure the bus error: the container sees the host's /dev/shm. But every process of the host and of other such
containers then shares it, may read and fill it, and files that a killed run leaves there stay until somebody
deletes them.

## Example

```yaml
services:
  trainer:
    image: pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime
    command: python train.py
    ipc: host
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

On a machine of one's own, where isolation does not matter.

## References

- https://docs.docker.com/reference/cli/docker/container/run/ (`--ipc`)
- https://kubernetes.io/docs/concepts/security/pod-security-standards/
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import read
from dllint.deploy.advice import size_for
from dllint.deploy.training import Training
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL708",
    name="host-ipc",
    severity=Severity.INFO,
    failure=Failure.SHARED_MEMORY,
    since="0.1",
    basis=read("the documentation of docker on `--ipc`"),
    opt_in=True,
)


@RULE.check
def host_ipc(training: Training) -> Iterator[Finding]:
    """Report the host's IPC namespace."""
    workload = training.workload
    if workload.host_ipc is None:
        return
    unused = "; the size beside it is not used" if workload.ignored_size is not None else ""
    yield RULE.finding(
        workload.host_ipc,
        f"{training.subject} shares the IPC namespace of its host{unused}",
        help=workload.launcher.says(size_for(training)),
        symbol=workload.name,
        evidence="host ipc",
    )
