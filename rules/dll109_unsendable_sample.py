"""DLL109 unsendable-sample

## What it does

Reports samples and batches that a worker cannot send to the main process: tensors that require a gradient (a module
called outside of `torch.no_grad()`), lambdas and local functions, generators, views of dicts, match objects, open
files, objects of local classes, and sparse tensors for the default collate.

## Why it breaks workers

What a worker gives goes through a queue whose feeder thread throws away what it cannot pickle. With `batch_size=None`
or a `collate_fn` of one's own the main process then **waits for ever**, without a message but a traceback on stderr
that ends in `multiprocessing/queues.py, in _feed`. The default collate raises before that: `RuntimeError: stack():
functions with out=... arguments don't support automatic differentiation`, `TypeError: default_collate: batch must
contain tensors, numpy arrays, numbers, dicts or lists`.

## Example

```python
import torch
from torch.utils.data import Dataset


class Projected(Dataset):
    def __init__(self):
        self.project = torch.nn.Linear(8, 4)

    def __len__(self):
        return 100

    def __getitem__(self, i):
        return self.project(torch.full((8,), float(i)))
```

## Use instead

```python
import torch
from torch.utils.data import Dataset


class Projected(Dataset):
    def __init__(self):
        self.project = torch.nn.Linear(8, 4)

    def __len__(self):
        return 100

    @torch.no_grad()
    def __getitem__(self, i):
        return self.project(torch.full((8,), float(i)))
```

## When to ignore

When gradients are off in the main process while the loader starts its workers (a forked worker has them off, too), in a
way that does not show in the source.

## References

- Run on torch 2.13: each kind of object with the default collate, with `collate_fn=list`, and with `batch_size=None`
- https://github.com/pytorch/pytorch/issues/82411
- https://github.com/pytorch/pytorch/issues/20248
- https://github.com/pyg-team/pytorch_geometric/issues/1967
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.facts import WorkerEntry
from dllint.code.processes import unsendable
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL109",
    name="unsendable-sample",
    severity=Severity.ERROR,
    failure=Failure.STALL,
    since="0.1",
    basis=proven(),
)


@RULE.check
def unsendable_sample(entry: WorkerEntry) -> Iterator[Finding]:
    """Yield what a worker gives and cannot send."""
    if not entry.start_methods:
        return
    for found in unsendable.given_by(entry):
        yield RULE.finding(
            found.location,
            f"{found.what} is handed from a worker to the main process: {found.harm}",
            help=found.help,
            related=[*found.related, *(loader.related() for loader in entry.loaders[:1])],
            symbol=found.symbol,
            evidence=found.what,
        )
