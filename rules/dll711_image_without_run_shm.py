"""DLL711 image-without-run-shm

## What it does

Reports a Dockerfile whose image trains with DataLoader workers, in a project where nothing says how it is run with
more shared memory than the default: no compose file, no manifest, no script, no line of its documents.

## Why it breaks workers

An image cannot set the size of its own /dev/shm. Whoever runs it as it stands (`docker run IMAGE`) gets 64 MB, and
the first larger batch ends in `DataLoader worker (pid ...) is killed by signal: Bus error` or, from torch 2.10 on,
`unable to allocate shared memory(shm) ... No space left on device (28)`.

## Example

```dockerfile
FROM pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime
COPY program.py /app/
CMD ["python", "/app/program.py"]
```

```python
from torch.utils.data import DataLoader
from torchvision.datasets import FakeData


def main():
    for batch in DataLoader(FakeData(), batch_size=64, num_workers=4):
        print(len(batch))


if __name__ == "__main__":
    main()
```

## Use instead

```dockerfile
# docker run --gpus all --shm-size=8g IMAGE
FROM pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime
COPY program.py /app/
CMD ["python", "/app/program.py"]
```

```python
from torch.utils.data import DataLoader
from torchvision.datasets import FakeData


def main():
    for batch in DataLoader(FakeData(), batch_size=64, num_workers=4):
        print(len(batch))


if __name__ == "__main__":
    main()
```

## When to ignore

When the image is only run by a platform that sets the size, and that is configured elsewhere.

## References

- https://github.com/pytorch/pytorch#docker-image
- https://docs.docker.com/reference/cli/docker/container/run/ (`--shm-size`)
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.deploy import usage
from dllint.deploy.advice import size_for
from dllint.deploy.training import Training
from dllint.deploy.workload import DOCKERFILE, ShmSource
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL711",
    name="image-without-run-shm",
    severity=Severity.WARNING,
    failure=Failure.SHARED_MEMORY,
    since="0.1",
    basis=proven(),
)


@RULE.check
def image_without_run_shm(training: Training) -> Iterator[Finding]:
    """Report an image that trains and that nothing in the project runs with shared memory."""
    workload = training.workload
    if workload.launcher is not DOCKERFILE or workload.flaws or workload.shm.source is not ShmSource.DEFAULT:
        return
    workers = usage.workers_of_image(training)
    if workers is None or usage.is_run(training) or usage.is_explained(training):
        return
    if usage.is_sized_for_its_build(training):
        return
    does = training.verb(is_certain=training.comes_to_it) if training.words else "holds code that starts"
    yield RULE.finding(
        workload.at,
        f"This image {does} DataLoader workers, and nothing here runs it with more than 64 MB of /dev/shm",
        help=workload.launcher.says(size_for(training)) + "; write that down where people look for it",
        related=workers,
        symbol=workload.name,
        evidence="image",
    )
