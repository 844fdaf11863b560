"""DLL503 late-start-method

## What it does

Reports a `set_start_method` that raises: after something has settled the method (another `set_start_method`,
`get_start_method()`, `get_context()`, a Queue, Lock, Value, Pool or Process of multiprocessing, a loop over a loader
with workers), in a process that `mp.spawn` started, with an unknown name; and one that runs whenever its module is
imported, since each spawned child imports it again. `force=True`, a `try`, a test with
`get_start_method(allow_none=True)` and the main guard are fine.

## Why it breaks workers

The method of a process can be set once: `RuntimeError: context has already been set`; an unknown one not at all:
`ValueError: cannot find context for 'forks'`. At module level it is the children that raise it, while they import the
script, and the main process only sees workers that exited unexpectedly.

## Example

```python
import torch.multiprocessing as mp


def run(tasks):
    queue = mp.Queue()
    mp.set_start_method("spawn")
    worker = mp.Process(target=print, args=(tasks, queue))
    worker.start()
    worker.join()
```

## Use instead

```python
import torch.multiprocessing as mp


def run(tasks):
    mp.set_start_method("spawn")
    queue = mp.Queue()
    worker = mp.Process(target=print, args=(tasks, queue))
    worker.start()
    worker.join()
```

## When to ignore

Never: the call raises. A loader's own `multiprocessing_context=` needs no global setting at all.

## References

- https://docs.python.org/3/library/multiprocessing.html#multiprocessing.set_start_method
- https://github.com/pytorch/pytorch/issues/3492
- What settles the method and what does not, run on torch 2.13 and Python 3.11
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dllint.basis import proven
from dllint.code.processes.start_calls import StartMethodCall
from dllint.code.processes.start_method import METHODS
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL503",
    name="late-start-method",
    severity=Severity.ERROR,
    failure=Failure.START_UP,
    since="0.1",
    basis=proven(),
)

_SET = "RuntimeError: context has already been set"
_FIRST = 'set it first thing under the main guard, or pass multiprocessing_context="spawn" to the loader'


@RULE.check
def late_start_method(subject: StartMethodCall) -> Iterator[Finding]:
    """Yield the one reason for which a call of set_start_method raises, if there is one."""
    if subject.unknown_name:
        yield _finding(
            subject,
            f"there is no start method {subject.unknown_name!r}: ValueError: cannot find context for it",
            f"use one of {', '.join(sorted(METHODS))}",
        )
        return
    if subject.is_safe:
        return
    settled = subject.settled()
    if settled is not None:
        effect, what = settled
        place = Related(f"{what} settles it here", effect.frame.scope.module.location(effect.node))
        yield _finding(subject, f"the start method is settled by now, by {what}: {_SET}", _FIRST, [*effect.way, place])
        return
    repeated = subject.repeated()
    if repeated is not None:
        loop, scope = repeated
        place = Related("this loop comes to it again", scope.module.location(loop))
        yield _finding(subject, f"the second turn of a loop sets the start method again: {_SET}", _FIRST, [place])
        return
    if subject.program.facts.runs_in_spawned_process(subject.scope):
        yield _finding(subject, f"a process that mp.spawn started has its start method: {_SET}", "leave it out")
        return
    at = subject.unguarded()
    if at is not None and subject.may_pickle and subject.children_follow:
        place = Related("runs at import", subject.scope.module.location(at))
        yield _finding(
            subject, f"each spawned child imports this module and sets the method again: {_SET}", _FIRST, [place]
        )


def _finding(subject: StartMethodCall, message: str, advice: str, related: Iterable[Related] = ()) -> Finding:
    return RULE.finding(
        subject.scope.module.location(subject.call),
        message,
        help=advice,
        related=related,
        symbol=subject.scope.qualname,
        evidence="set_start_method",
    )
