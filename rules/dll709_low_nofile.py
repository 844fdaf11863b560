"""DLL709 low-nofile

## What it does

Reports a container that trains and whose limit of open files is set below 4096.

## Why it breaks workers

By the default sharing strategy each tensor of a batch is an open descriptor in the main process, and two in the
worker that made it. When they run out, torch raises `Too many open files` or `received 0 items of ancdata`, or the
loader hangs.

## Example

```yaml
services:
  trainer:
    image: pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime
    command: python train.py
    shm_size: '8gb'
    ulimits:
      nofile: 1024
```

## Use instead

```yaml
services:
  trainer:
    image: pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime
    command: python train.py
    shm_size: '8gb'
    ulimits:
      nofile: 65536
```

## When to ignore

When each batch holds few tensors and none are kept.

## References

- https://docs.pytorch.org/docs/stable/multiprocessing.html#file-descriptor-file-descriptor
- https://github.com/pytorch/pytorch/issues/973
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.deploy.training import Training
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL709",
    name="low-nofile",
    severity=Severity.WARNING,
    failure=Failure.DESCRIPTORS,
    since="0.1",
    basis=proven(),
)

_LEAST = 4096


@RULE.check
def low_nofile(training: Training) -> Iterator[Finding]:
    """Report a limit of open files that batches can use up."""
    nofile = training.workload.nofile
    if nofile is None or nofile.value is None or not 0 < nofile.value < _LEAST:
        return
    yield RULE.finding(
        nofile.at,
        f"{training.subject} may open {nofile.value} files only: batches of many tensors use them up",
        help="set the limit to 65536, or leave it out",
        related=training.related(),
        symbol=training.workload.name,
        evidence=nofile.text,
    )
