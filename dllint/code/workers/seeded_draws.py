"""Which constant seeds of a worker_init_fn matter: those of generators that worker code draws from."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import pairwise

from dllint.code.apis.randomness import DRAWS
from dllint.code.facts import WorkerEntry
from dllint.code.language.links import parent
from dllint.code.language.scopes import last_name
from dllint.code.language.values import External
from dllint.code.loaders.loader import Loader
from dllint.code.workers import seeding
from dllint.code.workers.entries import entries_of_values
from dllint.code.workers.reach import Step
from dllint.code.workers.seeding import ConstantSeed


def constant_seeds(entry: WorkerEntry) -> Iterator[tuple[ConstantSeed, list[Loader]]]:
    """The seeds that make samples alike, each with the loaders that start their workers with it.

    Of statements that follow each other only the first: they are one decision.
    """
    for group in _in_a_row(seeding.constant_seeds(entry)):
        first = group[0]
        is_own = first.step.root.label != "worker_init_fn"
        loaders = [loader for loader in entry.loaders if is_own or _starts_with(entry, loader, first.step)]
        drawn = _drawn_from(entry, loaders) if loaders else frozenset()
        if any(found.generators & drawn for found in group):
            yield first, loaders


def _in_a_row(seeds: Iterable[ConstantSeed]) -> list[list[ConstantSeed]]:
    """The seeds, those of statements that follow each other together."""
    groups: list[list[ConstantSeed]] = []
    last: ast.AST | None = None
    for found in seeds:
        statement = parent(found.call)
        if _follows(statement, last):
            groups[-1].append(found)
        else:
            groups.append([found])
        last = statement
    return groups


def _starts_with(entry: WorkerEntry, loader: Loader, step: Step) -> bool:
    """Whether a loader is given this worker_init_fn."""
    argument = loader.arguments.get("worker_init_fn")
    if argument is None:
        return False
    steps = entries_of_values(entry.program, argument.values(entry.program.evaluator), "worker_init_fn")
    return any(other.scope is step.scope for other in steps)


def _follows(statement: ast.AST | None, last: ast.AST | None) -> bool:
    """Whether a statement comes right after another one, in one block."""
    body = getattr(parent(last), "body", []) if last is not None else []
    return any(before is last and after is statement for before, after in pairwise(body))


def _drawn_from(entry: WorkerEntry, loaders: list[Loader]) -> frozenset[str]:
    """The generators that the workers of these loaders are seen to draw from; torch's in any case.

    A transform or a dataset that cannot be seen may draw from none of those that are seeded.
    """
    found = {"torch"}
    for step in _steps(entry, loaders):
        for call in step.scope.index().calls:
            if last_name(call.func) in DRAWS:
                values = entry.program.evaluator.values(call.func, step.frame)
                found |= {value.name.partition(".")[0] for value in values if isinstance(value, External)}
    return frozenset(found)


def _steps(entry: WorkerEntry, loaders: list[Loader]) -> Iterator[Step]:
    """All worker code of these loaders: what they are given to call, and their datasets."""
    for other in entry.program.facts.worker_entries:
        if other is entry or any(loader in loaders for loader in other.loaders):
            yield from other.code.steps
