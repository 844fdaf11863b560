"""DLL502 unpicklable-worker-state

## What it does

Reports what spawn and forkserver cannot send to a worker: lambdas, functions and classes defined in functions, under
the main guard or in a notebook's cell, generators, modules, open handles, locks, queues and `torch.Generator` that
reach a worker as the dataset, on it, in its transforms, as `collate_fn` or `worker_init_fn`. Samplers and the loader's
`generator=` stay in the main process and are fine; so are partials of top-level functions, bound methods, and what
`__getstate__` drops.

## Why it breaks workers

Everything handed to a spawned worker is pickled: `AttributeError: Can't pickle local object` (Python 3.13: `Can't get
local object`), `TypeError: cannot pickle 'generator' object`, `PicklingError: Can't pickle <function <lambda>>:
attribute lookup <lambda> on __main__ failed`; a `torch.Generator` fails in the worker: `unable to resize file
<filename not specified> to the right size`. That is always so on Windows and macOS, in ranks started by `mp.spawn`,
and on Linux from Python 3.14.

## Example

```python
import torch
from torch.utils.data import DataLoader


def load(rows):
    return DataLoader(rows, num_workers=2, collate_fn=lambda batch: torch.stack(batch))
```

## Use instead

```python
import torch
from torch.utils.data import DataLoader


def stack(batch):
    return torch.stack(batch)


def load(rows):
    return DataLoader(rows, num_workers=2, collate_fn=stack)
```

## When to ignore

When workers are only ever forked: set `platforms = ["linux"]` and `target-python`, or `start-method = "fork"`.

## References

- 83 kinds of objects tried with fork, spawn and forkserver on torch 2.13
- https://docs.python.org/3/library/pickle.html#what-can-be-pickled-and-unpickled
- https://github.com/pytorch/pytorch/pull/167429
- https://github.com/qfgaohao/pytorch-ssd/issues/55
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.processes.pickling import Carried, Unpicklable
from dllint.code.workers import randomness
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL502",
    name="unpicklable-worker-state",
    severity=Severity.ERROR,
    failure=Failure.START_UP,
    since="0.1",
    basis=proven("spawn", "forkserver"),
    replaced_by=("DLL201", "DLL204", "DLL505"),
)
"""A handle that DLL201 reports cannot be pickled either: that is one cause."""


@RULE.check
def unpicklable_worker_state(subject: Carried) -> Iterator[Finding]:
    """Yield what one loader, or one dataset that no loader is seen to read, cannot send to its workers."""
    for found in subject.unpicklable():
        if not _is_shared_generator(found, subject):
            yield _finding(found, subject)


def _is_shared_generator(found: Unpicklable, subject: Carried) -> bool:
    """Whether it is a generator that forked workers draw from: DLL602 reports that, and the cure is the same."""
    if not found.what.startswith("torch.Generator"):
        return False
    drawn = (made for entry in subject.program.facts.worker_entries for made in randomness.shared(entry))
    return any(made.location == found.location for made in drawn)


def _finding(found: Unpicklable, subject: Carried) -> Finding:
    return RULE.finding(
        found.location,
        f"{found.what} reaches the workers {found.by} and cannot be pickled under spawn or forkserver: {found.error}",
        help=found.help,
        related=[*found.related, *subject.related()],
        symbol=found.symbol,
        evidence=f"{found.by}: {found.what}",
    )
