"""DLL605 bare-next

## What it does

Reports `next(...)` without a default in the code that makes a sample or a batch (`__getitem__`, `collate_fn` and what
they call), where the iterator can run out: one that is kept from call to call, one that is filtered
(`next(x for x in xs if ...)`), one over files. Caught StopIteration is fine, and so are endless iterators and
`next(iter(xs))`, which needs one element only. So is a filter of which an earlier test makes sure that something
passes it, in the function, in those that call it or in the constructor: `if not kept: raise ...`, `any(...)` or `in`
over the same things.

## Why it breaks workers

The StopIteration leaves the dataset and ends the `for` loop over the loader, as if the epoch were over: no error, no
message, the rest of the data is never seen (torch 2.13: 2 of 64 samples, with any number of workers).

## Example

```python
from torch.utils.data import Dataset


class Words(Dataset):
    def __init__(self, words, known):
        self.words, self.known = words, known

    def __len__(self):
        return len(self.words)

    def __getitem__(self, i):
        return next(k for k, word in enumerate(self.known) if word == self.words[i])
```

## Use instead

```python
from torch.utils.data import Dataset


class Words(Dataset):
    def __init__(self, words, known):
        self.words, self.known = words, known

    def __len__(self):
        return len(self.words)

    def __getitem__(self, i):
        return next((k for k, word in enumerate(self.known) if word == self.words[i]), -1)
```

## When to ignore

When it is certain that the iterator has one more element; an error that says so is still better than a short epoch.

## References

- https://peps.python.org/pep-0479/ (the same trap in generators, which there became a RuntimeError)
- https://docs.python.org/3/library/functions.html#next
- Run on torch 2.13: the epoch ends silently, with and without workers
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.language import iterators
from dllint.code.language.links import parent
from dllint.code.workers import exceptions, fetching
from dllint.code.workers.fetching import Fetch
from dllint.code.workers.reach import Step
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL605",
    name="bare-next",
    severity=Severity.ERROR,
    failure=Failure.WRONG_SAMPLES,
    since="0.1",
    basis=proven(),
)

_RAISED = frozenset({"StopIteration"})
_HELP = "give next() a default and test for it, or catch StopIteration and raise an error that names the sample"


@RULE.check
def bare_next(fetch: Fetch) -> Iterator[Finding]:
    """Yield the calls of next() that end the epoch when their iterator runs out."""
    for step, call, taken in fetching.next_calls(fetch):
        if _stays_inside(step, call):
            continue
        passed = [(node, at.frame) for at, node in step.hops(call)]
        why = iterators.runs_out(fetch.program, taken, passed, fetch.scopes)
        if not why or exceptions.is_handling(call, "StopIteration"):
            continue
        if exceptions.is_caught(fetch.program, call, step, _RAISED):
            continue
        yield RULE.finding(
            step.scope.module.location(call),
            f"next() raises StopIteration when {why}: that ends the loop over the loader, silently, in mid-epoch",
            help=_HELP,
            related=step.way(),
            symbol=step.scope.qualname,
            evidence=ast.unparse(call),
        )


def _stays_inside(step: Step, call: ast.Call) -> bool:
    """Whether a generator around the call turns StopIteration into a RuntimeError."""
    at: Step | None = step
    node: ast.AST | None = call
    while at is not None and node is not None:
        if at.scope.is_generator or _in_generator_expression(node):
            return True
        node, at = at.call, at.parent
    return False


def _in_generator_expression(node: ast.AST) -> bool:
    child, at = node, parent(node)
    while at is not None and not isinstance(at, ast.stmt):
        if isinstance(at, ast.GeneratorExp) and child is not at.generators[0]:
            return True
        child, at = at, parent(at)
    return False
