"""Which constant seeds of a worker_init_fn matter: those of generators that worker code draws from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.apis.randomness import DRAWS
from dllint.code.facts import WorkerEntry
from dllint.code.language import classes
from dllint.code.language.callables import callable_method, callables, innermost
from dllint.code.language.scopes import FunctionScope, last_name
from dllint.code.language.values import External, Frame, Function, Instance, Value
from dllint.code.loaders.loader import Loader
from dllint.code.workers import seeding
from dllint.code.workers.datasets import read_by
from dllint.code.workers.entries import entries_of_values
from dllint.code.workers.reach import Step
from dllint.code.workers.seeding import ConstantSeed

if TYPE_CHECKING:
    from dllint.code.program import Program


def constant_seeds(entry: WorkerEntry) -> Iterator[tuple[ConstantSeed, list[Loader]]]:
    """The seeds that make samples alike, each with the loaders that start their workers with it."""
    drawn: dict[tuple[int, ...], frozenset[str]] = {}
    for found in seeding.constant_seeds(entry):
        is_own = found.step.root.label != "worker_init_fn"
        loaders = [loader for loader in entry.loaders if is_own or _starts_with(entry, loader, found.step)]
        key = tuple(map(id, loaders))
        if loaders and key not in drawn:
            drawn[key] = _drawn_from(entry, loaders)
        if loaders and found.generators & drawn[key]:
            yield found, loaders


def _starts_with(entry: WorkerEntry, loader: Loader, step: Step) -> bool:
    """Whether a loader is given this worker_init_fn."""
    argument = loader.arguments.get("worker_init_fn")
    if argument is None:
        return False
    steps = entries_of_values(entry.program, argument.values(entry.program.evaluator), "worker_init_fn")
    return any(other.scope is step.scope for other in steps)


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
    """All worker code of these loaders: what they are given to call, and their datasets with what those hold."""
    program = entry.program
    read = [instance for loader in loaders for instance in read_by(program, loader)]
    for other in program.facts.worker_entries:
        if other is entry or any(loader in loaders for loader in other.loaders):
            yield from (step for step in other.code.steps if _runs_for(program, step, read))


def _runs_for(program: Program, step: Step, read: list[Instance]) -> bool:
    """Whether these datasets come to a step: a transform that another script gives to the same class is not theirs."""
    while step.parent is not None and step.call is not None:
        function = getattr(step.call, "func", None)
        around = step.parent
        if isinstance(function, ast.Attribute) and _is_receiver(function.value, around):
            holders = [one for one in read if _has_method(program, one, around.scope)]
            if holders and not any(_enters(program, function, step, around, one) for one in holders):
                return False
        step = around
    return True


def _has_method(program: Program, holder: Instance, method: FunctionScope) -> bool:
    return any(base is method.owner for base in classes.project_mro(program.evaluator, holder.cls))


def _is_receiver(node: ast.expr, step: Step) -> bool:
    return isinstance(node, ast.Name) and node.id == step.scope.receiver_name


def _enters(program: Program, function: ast.expr, step: Step, around: Step, holder: Instance) -> bool:
    """Whether `self.transform(x)` of one object comes to a function; so it does where the object is not known."""
    if holder.node is None:
        return True
    found = program.evaluator.values(function, Frame(around.scope, holder))
    held = [part for value in found for part in callables(program, value)]
    return any(_scope(program, part) is step.scope for part in held)


def _scope(program: Program, value: Value) -> FunctionScope | None:
    inner = innermost(value)
    if isinstance(inner, Instance):
        return callable_method(program, inner)
    return inner.scope if isinstance(inner, Function) else None
