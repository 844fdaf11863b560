"""DLL105 distributed-call-in-worker

## What it does

Reports collectives, barriers and process groups in code that DataLoader workers run. Also reports code there that asks
for the rank or the world size, where the workers may be started by spawn or forkserver; under fork such a question gets
the right answer. A `__len__` may ask: the main process calls it.

## Why it breaks workers

A worker is no rank. Forked, it hangs in the collective for ever, past the group's own time-out, without a message.
Spawned, it has no process group: `ValueError: Default process group has not been initialized`; and code that asks
`is_initialized()` first takes itself for the only rank, so that every rank silently reads all the data. Forkserver is
the default on Linux from Python 3.14.

## Example

```python
import torch.distributed as dist
from torch.utils.data import Dataset


class Rows(Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, i):
        dist.barrier()
        return i
```

## Use instead

```python
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self):
        self.rank = dist.get_rank()

    def __len__(self):
        return 100

    def __getitem__(self, i):
        return i, self.rank


def train():
    for row in DataLoader(Rows(), num_workers=2):
        dist.barrier()
```

## When to ignore

A question for the rank, when workers are only ever forked: set `start-method = "fork"`.

## References

- Run on torch 2.13 with gloo and 2 ranks: barrier, all_reduce and broadcast_object_list hang in a forked worker
- https://github.com/Lightning-AI/pytorch-lightning/issues/15734
- https://github.com/meta-pytorch/data/issues/868
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dllint.basis import proven
from dllint.code import apis
from dllint.code.facts import WorkerEntry
from dllint.code.processes import messages
from dllint.code.workers import uses
from dllint.code.workers.reach import Step
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL105",
    name="distributed-call-in-worker",
    severity=Severity.ERROR,
    failure=Failure.STALL,
    since="0.1",
    basis=proven("spawn", "forkserver"),
)


@RULE.check
def distributed_call_in_worker(entry: WorkerEntry) -> Iterator[Finding]:
    """Yield the collectives in worker code, and the questions for a rank that a spawned worker cannot answer."""
    if not entry.start_methods:
        return
    for step, call, name in uses.in_worker(entry.code, apis.COLLECTIVES):
        if uses.runs_in_worker_only(step):
            yield _collective(entry, step, call, name)
    if entry.may_pickle:
        yield from _questions(entry)


def _collective(entry: WorkerEntry, step: Step, call: ast.Call, name: str) -> Finding:
    harm = "a forked worker hangs in it for ever" if entry.may_fork else "a spawned worker has no process group"
    return RULE.finding(
        step.scope.module.location(call),
        f"{name}() is called in a DataLoader worker, which is no rank: {harm}",
        help="call it in the main process: before the loader starts, or in the training loop",
        related=entry.way(step),
        symbol=step.scope.qualname,
        evidence=name,
    )


def _questions(entry: WorkerEntry) -> Iterator[Finding]:
    """A question for the rank, once for each line; where nothing asks for it, whether there is a group."""
    asked = [found for found in uses.in_worker(entry.code, apis.RANK_QUERIES) if _matters(*found)]
    if not asked:
        asked = [found for found in uses.in_worker(entry.code, apis.GROUP_QUERIES) if _matters(*found)]
    first = {(step.scope, call.lineno): (step, call, name) for step, call, name in reversed(asked)}
    for step, call, name in reversed(list(first.values())):
        yield RULE.finding(
            step.scope.module.location(call),
            f"{name}() is asked in a DataLoader worker: one started by spawn or forkserver has no process group "
            "(ValueError, or every rank takes itself for the only one)",
            help="ask in the dataset's __init__, which runs in the main process, and keep the answer on self",
            related=entry.way(step),
            severity=Severity.WARNING if entry.may_fork else Severity.ERROR,
            symbol=step.scope.qualname,
            evidence=name,
        )


def _knows_the_environment(step: Step) -> bool:
    """Whether a function also asks for what a launcher sets in the environment, which every worker inherits."""
    texts = {node.value for node in ast.walk(step.scope.node) if isinstance(node, ast.Constant)}
    return not texts.isdisjoint(("RANK", "WORLD_SIZE"))


def _matters(step: Step, call: ast.Call, name: str) -> bool:
    """Whether a wrong answer changes the samples: a logger that asks writes a line too many, no more."""
    raises = name in apis.RANK_QUERIES and name.startswith("torch.") and not messages.is_asked_in_a_group(call)
    if not raises and (messages.decides_messages(step.scope, call) or _knows_the_environment(step)):
        return False
    at: Step | None = step
    while at is not None:
        if messages.names_a_log(at.scope.name) or messages.names_a_log(at.scope.module.name.rpartition(".")[2]):
            return False
        at = at.parent
    return uses.runs_in_worker_only(step)
