"""DLL110 cuda-before-fork

## What it does

Reports the first call that touches CUDA in the main process before it forks ranks itself: by accelerate's
`notebook_launcher`, by `start_processes(..., start_method="fork")`, by a Lightning trainer with `strategy="ddp_fork"`
or `"ddp_notebook"`, by `get_context("fork").Process`. `torch.cuda.device_count()` is fine.

## Why it breaks workers

A forked process cannot use CUDA once its parent has touched it: `RuntimeError: Cannot re-initialize CUDA in forked
subprocess`. `torch.cuda.is_available()` is touch enough, unless `PYTORCH_NVML_BASED_CUDA_CHECK=1` is set.

## Example

```python
import torch
from accelerate import notebook_launcher


def train():
    print(torch.ones(3).cuda())


model = torch.nn.Linear(3, 3).cuda()
notebook_launcher(train, num_processes=2)
```

## Use instead

```python
import torch
from accelerate import notebook_launcher


def train():
    model = torch.nn.Linear(3, 3).cuda()
    print(model(torch.ones(3).cuda()))


notebook_launcher(train, num_processes=2)
```

## When to ignore

When the ranks do not use CUDA.

## References

- torch 2.13, `torch/cuda/__init__.py`, `_lazy_init` and `is_available`
- https://huggingface.co/docs/accelerate/basic_tutorials/notebook
- https://lightning.ai/docs/pytorch/stable/accelerators/gpu_intermediate.html
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import read
from dllint.code.tensors.forked_ranks import Launch
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL110",
    name="cuda-before-fork",
    severity=Severity.WARNING,
    failure=Failure.CUDA,
    since="0.1",
    basis=read("the source of torch 2.13, `_lazy_init` in `torch/cuda/__init__.py`"),
)


@RULE.check
def cuda_before_fork(launch: Launch) -> Iterator[Finding]:
    """Yield the first touch of CUDA before a fork of ranks."""
    touch = launch.first_touch()
    if touch is None:
        return
    yield RULE.finding(
        touch.frame.scope.module.location(touch.call),
        f"{touch.text} touches CUDA before ranks are forked: "
        "RuntimeError in each of them, cannot re-initialize CUDA in forked subprocess",
        help="touch CUDA in the function that the ranks run, or start them by spawn",
        related=[
            *touch.way,
            Related(f"forked here, by {launch.text}", launch.frame.scope.module.location(launch.call)),
        ],
        symbol=touch.frame.scope.qualname,
        evidence=touch.text,
    )
