"""Whether the workers of an iterable dataset share out its data among them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language.iterators import is_endless
from dllint.code.language.links import parent
from dllint.code.language.scopes import FunctionScope, last_name
from dllint.code.language.values import Product, Value
from dllint.code.workers.datasets import Dataset
from dllint.code.workers.library_pipes import made_whole
from dllint.code.workers.reach import Step
from dllint.code.workers.whole_data import is_data

if TYPE_CHECKING:
    from dllint.code.program import Program


def own_iter(dataset: Dataset) -> Step | None:
    """The `__iter__` that workers run."""
    return next((s for s in dataset.worker.steps if s.scope.name == "__iter__" and s.parent is None), None)


def own_source(dataset: Dataset, start: Step) -> tuple[Step, ast.AST] | None:
    """The finite data of its own, no other dataset, that `__iter__` passes on; None where that cannot be seen."""
    for step in _generators(dataset, start):
        found = _source(dataset.program, step)
        if found is not None:
            return step, found
    return None


def _generators(dataset: Dataset, start: Step) -> Iterator[Step]:
    """`__iter__`, and the generators of the project that it passes on or loops over."""
    yield start
    for step in dataset.worker.steps:
        if step.parent is not None and step.scope.is_generator and _leads_to(step, start):
            yield step


def _leads_to(step: Step, start: Step) -> bool:
    at: Step | None = step
    while at is not None:
        if at is start:
            return True
        at = at.parent
    return False


def _source(program: Program, step: Step) -> ast.AST | None:
    scope: FunctionScope = step.scope
    scope.index()
    for yielded in scope.yields:
        if is_endless(yielded):
            return None
        if isinstance(yielded, ast.YieldFrom) and _is_own(program, yielded.value, step):
            return yielded
        looped = _while_source(program, yielded, step)
        if looped is not None:
            return looped
    for loop in scope.loops:
        if not isinstance(loop, ast.For) or not _yields_of(loop) or is_endless(loop) or _is_count(loop):
            continue
        if _is_own(program, loop.iter, step):
            return loop.iter
    for returned in scope.returns:
        if returned.value is not None and not scope.yields and _is_own(program, returned.value, step):
            return returned
    return None


def _while_source(program: Program, node: ast.AST, step: Step) -> ast.AST | None:
    """`line = file.readline()`, then `while line: yield ...`: the loop ends with the data."""
    at: ast.AST | None = node
    while at is not None and not isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if isinstance(at, ast.While) and isinstance(at.test, ast.Name) and _is_own(program, at.test, step):
            return at.test
        at = parent(at)
    return None


def _yields_of(loop: ast.For) -> bool:
    """Whether the loop yields something made of what it passes."""
    names = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
    yields = [n for n in ast.walk(loop) if isinstance(n, (ast.Yield, ast.YieldFrom))]
    return bool(yields) and bool(names)


def _is_count(loop: ast.For) -> bool:
    """`for _ in range(n)`: so many draws, not a pass over data."""
    names = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
    used = {n.id for statement in loop.body for n in ast.walk(statement) if isinstance(n, ast.Name)}
    return isinstance(loop.iter, ast.Call) and last_name(loop.iter) == "range" and not names & used


def _is_own(program: Program, node: ast.expr, step: Step) -> bool:
    found = program.evaluator.values(node, step.frame)
    return bool(found) and all(is_data(program, value) or _is_whole_pipe(program, value) for value in found)


def _is_whole_pipe(program: Program, value: Value) -> bool:
    """Whether it is a library's pipeline that gives all of its data to each worker, or its iterator."""
    if isinstance(value, Product) and value.name == "builtins.iter" and value.node.args:
        inner = program.evaluator.values(value.node.args[0], value.frame)
        return all(made_whole(program, one) is not None for one in inner)
    return made_whole(program, value) is not None
