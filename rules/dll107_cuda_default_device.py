"""DLL107 cuda-default-device

## What it does

Reports `torch.set_default_device("cuda")` and `torch.set_default_tensor_type("torch.cuda...")` in a program that builds
a loader which shuffles or has forked workers, a loop over such a loader within `with torch.device("cuda"):`, and a
loader whose `generator` is a CUDA generator while the default device is the CPU. A loader without workers and with a
CUDA generator is right under a CUDA default.

## Why it breaks workers

The sampler draws its indices on the default device with a CPU generator: `RuntimeError: Expected a 'cuda' device type
for generator but found 'cpu'`. In a worker every `torch.tensor(...)`, those of the default collate included, goes to
the GPU: `RuntimeError: Cannot re-initialize CUDA in forked subprocess`. A CUDA generator fails the other way round, as
soon as the loader is iterated: `Expected a 'cpu' device type for generator but found 'cuda'`.

## Example

```python
import torch
from torch.utils.data import DataLoader

torch.set_default_device("cuda")
loader = DataLoader([1, 2, 3], shuffle=True)
```

## Use instead

```python
import torch
from torch.utils.data import DataLoader

loader = DataLoader([1, 2, 3], shuffle=True)
model = torch.nn.Linear(3, 1, device="cuda")
```

## When to ignore

When the default is set back to the CPU before the loader runs, in a way that does not show in the source.

## References

- torch 2.13, `torch/utils/data/sampler.py` and `dataloader.py`: `randperm(n, generator=...)`, `random_(generator=...)`
- https://github.com/pytorch/pytorch/issues/44714
- https://github.com/amdegroot/ssd.pytorch/issues/578
- https://github.com/dbolya/yolact/issues/664
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import reported
from dllint.code.loaders.loader import Loader
from dllint.code.tensors import default_device
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL107",
    name="cuda-default-device",
    severity=Severity.ERROR,
    failure=Failure.CUDA,
    since="0.1",
    basis=reported("pytorch#44714", "amdegroot/ssd.pytorch#578", "dbolya/yolact#664"),
)


@RULE.check
def cuda_default_device(loader: Loader) -> Iterator[Finding]:
    """Yield the CUDA default that a loader cannot run under, or the CUDA generator that it cannot use."""
    default = default_device.over(loader)
    if default is not None:
        harm = default_device.harm(loader, default)
        if harm:
            yield RULE.finding(
                default.module.location(default.call),
                f"{default.text} while a loader {harm}",
                help="leave the default on the CPU: name the device where tensors and models are made, "
                "and move each batch in the training loop",
                related=[loader.related()] if loader.has_workers else [default_device.shuffled(loader)],
                symbol=default.scope.qualname,
                evidence="default device",
            )
    elif default_device.has_cuda_generator(loader):
        yield RULE.finding(
            loader.where("generator"),
            "the loader's generator is on the GPU, its indices and seeds are drawn on the CPU: "
            "RuntimeError, expected a 'cpu' device type for generator but found 'cuda'",
            help="use a CPU generator: torch.Generator()",
            related=loader.context_related(),
            symbol=loader.symbol,
            evidence="generator",
        )
