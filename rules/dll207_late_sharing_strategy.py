"""DLL207 late-sharing-strategy

## What it does

Reports `torch.multiprocessing.set_sharing_strategy` where it comes too late: after a loader with workers has been
iterated; in a function, or under the main guard, of a program whose workers are spawned. Reports a strategy that does
not exist as well.

## Why it breaks workers

Each worker decides by itself how it shares tensors, by the strategy that holds when it starts. Workers that run
already keep the old one, and go on to run out of descriptors. A spawned worker inherits nothing: it imports the
modules again, and what a function of main has set never reaches it. An unknown name fails with `AssertionError:
invalid sharing strategy 'x', expected one of {...}`.

## Example

```python
import torch.multiprocessing
from torch.utils.data import DataLoader


def main(dataset):
    loader = DataLoader(dataset, num_workers=2, persistent_workers=True)
    for batch in loader:
        print(batch)
    torch.multiprocessing.set_sharing_strategy("file_system")
    for batch in loader:
        print(batch)
```

## Use instead

```python
import torch.multiprocessing
from torch.utils.data import DataLoader

torch.multiprocessing.set_sharing_strategy("file_system")


def main(dataset):
    loader = DataLoader(dataset, num_workers=2, persistent_workers=True)
    for epoch in range(2):
        for batch in loader:
            print(batch)
```

## When to ignore

When the strategy is only meant for loaders that are iterated later, and the earlier ones have ended.

## References

- Measured on torch 2.13 with fork, spawn and forkserver
- https://pytorch.org/docs/stable/multiprocessing.html#sharing-strategies
- https://github.com/pytorch/pytorch/issues/11201
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.program import Program
from dllint.code.tensors import sharing
from dllint.code.tensors.sharing import Setting
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL207",
    name="late-sharing-strategy",
    severity=Severity.WARNING,
    failure=Failure.DESCRIPTORS,
    since="0.1",
    basis=proven("fork", "spawn"),
)

_HELP = "call it once at module level of the script, outside of the main guard and before any loader is iterated"


@RULE.check
def late_sharing_strategy(program: Program) -> Iterator[Finding]:
    """Yield the calls that set the sharing strategy without the effect that they are made for."""
    for setting in sharing.settings(program):
        unknown = [name for name in setting.names if name not in sharing.STRATEGIES]
        if unknown:
            text = f"there is no sharing strategy {unknown[0]!r}: AssertionError"
            yield _finding(setting, text, f"use one of {' and '.join(sharing.STRATEGIES)}")
            continue
        started = sharing.started_before(program, setting)
        if started is not None:
            text = "workers were started before this, and keep the strategy that held then"
            yield _finding(setting, text, _HELP, (started,))
        elif not sharing.reaches_spawned(program, setting):
            text = "spawned workers import the modules again: what is set here never reaches them"
            yield _finding(setting, text, _HELP + "; or call it in worker_init_fn")


def _finding(setting: Setting, text: str, advice: str, related: tuple[Related, ...] = ()) -> Finding:
    return RULE.finding(
        setting.scope.module.location(setting.call),
        text,
        help=advice,
        related=related,
        symbol=setting.scope.qualname,
        evidence="set_sharing_strategy",
    )
