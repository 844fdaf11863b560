"""DLL707 invalid-shm-size

## What it does

Reports a size of shared memory in a spelling that its reader refuses or takes for something else: `8Gi` for docker
and compose, `8gb` for a Kubernetes quantity or a tmpfs option, `64m` (0.064 bytes) as a quantity, a YAML float,
`medium: memory`.

## Why it breaks workers

docker, Kubernetes, the kernel and the clouds each have their own grammar of sizes. A refused size stops the start; a
misread one leaves the container with next to nothing, or with the default of 64 MB: `DataLoader worker (pid ...) is
killed by signal: Bus error`.

## Example

```yaml
services:
  trainer:
    image: pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime
    command: python train.py
    shm_size: 8Gi
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

When something rewrites the value before it is read.

## References

- docker/go-units, `size.go`, `RAMInBytes`
- https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
- https://docs.kernel.org/filesystems/tmpfs.html
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import read
from dllint.deploy.advice import size_for
from dllint.deploy.training import Training
from dllint.deploy.workload import FlawKind
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL707",
    name="invalid-shm-size",
    severity=Severity.ERROR,
    failure=Failure.SHARED_MEMORY,
    since="0.1",
    basis=read("the sources of docker/go-units, `RAMInBytes`, and of Kubernetes quantities"),
)


@RULE.check
def invalid_shm_size(training: Training) -> Iterator[Finding]:
    """Report the sizes that are refused or misread."""
    workload = training.workload
    for flaw in workload.flaws:
        if flaw.kind is FlawKind.REFUSED:
            yield RULE.finding(
                flaw.at,
                f"{flaw.clause} ({training.subject})",
                help=workload.launcher.says(size_for(training), flaw.instead),
                related=training.related(),
                symbol=workload.name,
                evidence="refused",
            )
