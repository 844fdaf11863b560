"""What main does with a loader's batches, as far as its speed matters: moves them to the GPU, trains with them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language import conditions, loops
from dllint.code.language.scopes import FunctionScope, Scope, last_name
from dllint.code.language.values import Frame, Product
from dllint.code.loaders import mutations
from dllint.code.loaders.iterations import Iteration
from dllint.code.loaders.loader import Loader
from dllint.code.tensors import devices
from dllint.code.workers import uses
from dllint.code.workers.reach import Step
from dllint.finding import Related

if TYPE_CHECKING:
    from dllint.code.program import Program

_ASKS = frozenset({"hasattr", "exists", "isfile", "is_file", "get"})
"""Calls that ask whether something is there already."""
_MOVING = frozenset({"to", "cuda"})


def moves_to_gpu(program: Program, loader: Loader) -> Iterator[tuple[Iteration, Related]]:
    """The loops over a loader that move its batches to an accelerator, each with the place."""
    for iteration in program.facts.iterations_of(loader):
        if isinstance(iteration.node, (ast.For, ast.AsyncFor)):
            place = next(_moves(program, iteration, iteration.node), None)
            if place is not None:
                yield iteration, place


def _moves(program: Program, iteration: Iteration, loop: ast.For | ast.AsyncFor) -> Iterator[Related]:
    """Where the body of a loop moves its batch: itself, or in a function that it hands the batch to."""
    names, scope = loops.bound_in(loop) | _targets(loop), iteration.frame.scope
    for call in scope.index().calls:
        if loops.holds(loop, call) and _is_move_of(call, names):
            yield from _transfer(program, call, iteration.frame)
    for step in mutations.called(program, loop, iteration.frame).steps:
        given = step.root.call
        if isinstance(given, ast.Call) and _mentions(given.args, names):
            own = {parameter.arg for parameter in step.scope.parameters} | set(step.scope.index().bindings)
            for call in step.scope.calls:
                if _is_move_of(call, own):
                    yield from _transfer(program, call, step.frame)


def _targets(loop: ast.For | ast.AsyncFor) -> set[str]:
    return {part.id for part in ast.walk(loop.target) if isinstance(part, ast.Name)}


def _is_move_of(call: ast.Call, names: set[str]) -> bool:
    """Whether a call is `batch.to(...)` or `batch["x"].cuda()` of one of the names."""
    return isinstance(call.func, ast.Attribute) and call.func.attr in _MOVING and _mentions([call.func.value], names)


def _mentions(nodes: list[ast.expr], names: set[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for node in nodes for part in ast.walk(node))


def _transfer(program: Program, call: ast.Call, frame: Frame) -> Iterator[Related]:
    found = devices.transfer(program, call, frame)
    if found is not None:
        yield Related("batches move to the GPU here", frame.scope.module.location(call))


def trains(program: Program, iteration: Iteration) -> bool:
    """Whether a loop over a loader computes gradients: `loss.backward()`, `accelerator.backward(loss)`."""
    loop = iteration.node
    if not isinstance(loop, (ast.For, ast.AsyncFor)):
        return False
    if any(last_name(call) == "backward" and loops.holds(loop, call) for call in iteration.frame.scope.index().calls):
        return True
    steps = mutations.called(program, loop, iteration.frame).steps
    return any(last_name(call) == "backward" for step in steps for call in step.scope.index().calls)


def _is_per_sample(step: Step, call: ast.Call, dataset_names: set[str]) -> bool:
    """Whether a call in worker code is made for each sample: none on its way hangs on what the object has kept."""
    at: ast.AST | None = call
    scope: Scope = step.scope
    while at is not None:
        if scope.name == "__init__" and scope.parent is not None and scope.parent.name in dataset_names:
            return False  # another dataset is made there
        if any(_asks_what_is_kept(test, scope) for test, _ in conditions.leading_to(at)):
            return False
        if step.parent is None:
            return True
        at, step = step.call, step.parent
        scope = step.scope
    return True


def _asks_what_is_kept(test: ast.expr, scope: Scope) -> bool:
    own = scope.receiver_name if isinstance(scope, FunctionScope) else None
    for part in ast.walk(test):
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == own:
            return True
        if isinstance(part, (ast.In, ast.NotIn)) or (isinstance(part, ast.Call) and last_name(part) in _ASKS):
            return True
    return False


def disk_read(program: Program, loader: Loader) -> Related | None:
    """Where the samples of a loader are read from disk, if they are."""
    for dataset in program.facts.datasets:
        if loader in dataset.loaders:
            for step, call, name in uses.in_worker(dataset.worker, apis.DECODES):
                if uses.runs_in_worker_only(step) and _is_per_sample(step, call, program.dataset_names):
                    text = f"each sample is read from disk here, by {name.rpartition('.')[2]}"
                    return Related(text, step.scope.module.location(call))
    for value in loader.dataset_values():
        if isinstance(value, Product) and value.name in apis.READ_FROM_DISK:
            place = value.frame.scope.module.location(value.node)
            return Related(f"{value.name.rpartition('.')[2]} reads each sample from disk", place)
    return None
