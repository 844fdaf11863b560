"""DLL206 retained-batches

## What it does

Reports code in main that keeps the tensors that workers sent, for a whole pass over a loader: `list(loader)`,
`[*loader]`, `itertools.cycle(loader)`, comprehensions, lists and dicts that get a batch or a part of it in each turn.
Views and no-ops keep them too: `.detach()`, `.cpu()`, `.numpy()`, slices. Copies and computed results are fine, and so
is everything without workers, with the `file_system` strategy, or with pinned batches.

## Why it breaks workers

Under the `file_descriptor` strategy, the default on Linux, each tensor from a worker holds a descriptor as long as
its storage lives: an (x, y) batch costs two. When they run out: `RuntimeError: Too many open files. Communication
with the workers is no longer possible. Please increase the limit using ulimit -n in the shell or change the sharing
strategy`, `RuntimeError: received 0 items of ancdata`, or a worker that hangs. The shared memory stays in use as well.

## Example

```python
import torch
from torch.utils.data import DataLoader


def labels(dataset):
    found = []
    for x, y in DataLoader(dataset, batch_size=64, num_workers=4):
        found.append(y)
    return torch.cat(found)
```

## Use instead

```python
import torch
from torch.utils.data import DataLoader


def labels(dataset):
    found = []
    for x, y in DataLoader(dataset, batch_size=64, num_workers=4):
        found.append(y.clone())
    return torch.cat(found)
```

## When to ignore

When a pass has only some hundred batches: the usual limit is 1024 descriptors.

## References

- Measured on torch 2.13: 27 forms of keeping a batch
- https://pytorch.org/docs/stable/multiprocessing.html#file-descriptor-file-descriptor
- https://github.com/pytorch/pytorch/issues/11201 and https://github.com/pytorch/pytorch/issues/23900
- https://github.com/SBU-BMI/wsinfer/pull/182
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.loaders import drawn, retention
from dllint.code.loaders.iterations import Iteration
from dllint.code.loaders.loader import Loader
from dllint.code.loaders.retention import Kept
from dllint.code.tensors import sharing
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL206",
    name="retained-batches",
    severity=Severity.WARNING,
    failure=Failure.DESCRIPTORS,
    since="0.1",
    basis=proven(),
)

_FEW = 200
"""Batches in a pass that no limit of descriptors is reached by."""


@RULE.check
def retained_batches(loader: Loader) -> Iterator[Finding]:
    """Yield what main keeps of the batches of one loader."""
    program = loader.program
    if not drawn.shares_storages(loader) or sharing.may_use_files(program):
        return
    size = drawn.count(program, loader)
    if size is not None and size < _FEW:
        return
    for iteration in program.facts.iterations_of(loader):
        if iteration.loader is loader and not iteration.module.is_test:
            for kept in retention.of_iteration(program, iteration):
                yield _finding(kept, iteration)


def _finding(kept: Kept, iteration: Iteration) -> Finding:
    text = ast.unparse(kept.expression)[:60]
    kept_as = f"all batches of {text} stay alive as the workers sent them"
    what = kept_as if kept.is_all else f"{text} of every batch stays alive as the workers sent it"
    copy = "iterate it again in each pass instead" if kept.is_all else "keep a copy: .clone(), .tolist() or .item()"
    scope = kept.frame.scope
    return RULE.finding(
        scope.module.location(kept.node),
        f"{what}, one descriptor for each tensor: too many open files",
        help=f"{copy}; or torch.multiprocessing.set_sharing_strategy('file_system') at the start of the program",
        related=[iteration.loader.related(), iteration.related(), *kept.way],
        symbol=scope.qualname,
        evidence=text,
    )
