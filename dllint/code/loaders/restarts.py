"""Places that start a loader's workers again and again for less than a pass over the data."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language import loops
from dllint.code.language.invariance import Turns
from dllint.code.language.links import parent, scope_of
from dllint.code.language.scopes import called_name
from dllint.code.language.values import Frame
from dllint.code.loaders import iterations
from dllint.code.loaders.iterations import Iteration, Repetition
from dllint.code.loaders.loader import Loader
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

_FEW = 3
"""Turns of a loop that peek at a loader, rather than train with it."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A loader that a loop builds anew in each turn, though nothing of it changes."""

    loader: Loader
    iteration: Iteration
    loop: loops.Loop
    frame: Frame
    """The frame that the loop stands in."""


def first_batches(program: Program) -> Iterator[Repetition]:
    """The loops in which a loader with workers is started for its first batch in each turn."""
    for iteration in program.facts.iterations:
        if not iteration.loader.has_workers or iteration.loader.option("persistent_workers").is_certainly(True):
            continue
        if takes_first_only(iteration):
            for found in iterations.repetitions(program, iteration):
                if not _is_now_and_then(program, found):
                    yield found


def takes_first_only(iteration: Iteration) -> bool:
    """Whether an iteration ends after the first batch: `next(iter(loader))`, `for batch in loader: ... break`."""
    node = iteration.node
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return loops.ends(node.body)
    if not isinstance(node, ast.Call) or _called(node) not in ("iter", "__iter__"):
        return False
    around = parent(node)
    if isinstance(around, ast.Call):
        return _called(around) == "next" and around.args[:1] == [node]
    if isinstance(around, ast.Attribute):
        return around.attr in ("next", "__next__")
    return isinstance(around, ast.Assign) and _is_stepped_once(around)


def _called(call: ast.Call) -> str:
    return called_name(call, scope_of(call), ("iter", "next"))


def _is_stepped_once(assign: ast.Assign) -> bool:
    """Whether an iterator is made and only asked for a batch within one turn of a loop: `it = iter(x); next(it)`."""
    target, loop = assign.targets[0], next(loops.around(assign), None)
    if not isinstance(target, ast.Name) or loop is None or not isinstance(loop, ast.stmt):
        return False
    uses = [n for n in ast.walk(loop) if isinstance(n, ast.Name) and n.id == target.id and n is not target]
    return bool(uses) and all(_is_asked_once(use, loop) for use in uses) and not _may_be_skipped(assign, loop)


def _is_asked_once(use: ast.Name, loop: loops.Loop) -> bool:
    around = parent(use)
    asked = isinstance(around, ast.Call) and _called(around) == "next" and around.args[:1] == [use]
    return asked and next(loops.around(use), None) is loop


def _may_be_skipped(node: ast.AST, loop: loops.Loop) -> bool:
    """Whether a node in a loop's body is not passed in each turn, but where something has changed."""
    child, at = node, parent(node)
    while at is not None and at is not loop:
        if isinstance(at, ast.ExceptHandler):
            return True
        if isinstance(at, (ast.If, ast.IfExp)) and child is not at.test and loops.changes(at.test, loop):
            return True
        child, at = at, parent(at)
    return False


def _is_now_and_then(program: Program, found: Repetition) -> bool:
    """Whether a first batch is taken a few times only: in some turns, in a short loop, or once an epoch."""
    if _may_be_skipped(found.node, found.loop):
        return True
    if isinstance(found.loop, (ast.For, ast.AsyncFor)):
        turns = loops.turns(program, found.loop, found.frame)
        if turns is not None and turns <= _FEW:
            return True
    return id(found.loop) in _epoch_loops(program)


def _epoch_loops(program: Program) -> set[int]:
    """The loops that pass a whole loader in each turn, and that are no pass over a loader themselves."""
    passes = {id(one.node) for one in program.facts.iterations}
    return {
        id(found.loop)
        for one in program.facts.iterations
        if isinstance(one.node, (ast.For, ast.AsyncFor)) and not takes_first_only(one)
        for found in program.facts.repetitions_of(one.loader)
        if found.iteration is one and id(found.loop) not in passes and not _may_be_skipped(found.node, found.loop)
    }


def rebuilt(program: Program) -> Iterator[Rebuilt]:
    """The loaders with workers that a loop builds and goes through in each turn, always the same."""
    for iteration in program.facts.iterations:
        if iteration.loader.has_workers:
            yield from _rebuilt_around(program, iteration, iteration.node, iteration.named, iteration.frame, 0)


def _rebuilt_around(
    program: Program, iteration: Iteration, node: ast.AST, named: ast.expr, frame: Frame, depth: int
) -> Iterator[Rebuilt]:
    for loop in loops.around(node):
        if loops.runs_once(program, loop, frame):
            continue
        making = _made_in(named, loop)
        if making is not None and not _may_be_skipped(making, loop) and Turns(program, loop, frame).keep(making):
            yield Rebuilt(iteration.loader, iteration, loop, frame)
        return
    for call, given, caller in iterations.handed_in(program, named, frame, iteration.loader) if depth < 3 else ():
        yield from _rebuilt_around(program, iteration, call, given, caller, depth + 1)


def _made_in(named: ast.expr, loop: loops.Loop) -> ast.expr | None:
    """The call in a loop's body that makes what `named` is, if that is one call."""
    if isinstance(named, ast.Call):
        return named
    if not isinstance(named, (ast.Name, ast.Attribute)):
        return None
    values = loops.assigned(named, loop)
    return values[0] if len(values) == 1 and isinstance(values[0], ast.Call) else None
