"""Generator functions that go through a loader and yield its batches, and who goes through what they yield."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language.links import parent
from dllint.code.language.scopes import FunctionScope, last_name
from dllint.code.language.values import Frame
from dllint.code.loaders import iterations
from dllint.code.loaders.iterations import Iteration
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

_DEEPEST = 2
"""Generators around one another that are followed."""
_LEAVE_ALL = frozenset({"enumerate", "tqdm", "track"})
"""Last names of calls that a loop may have around a generator, and gets all of it."""


@dataclass(frozen=True, slots=True)
class Consumer:
    """What goes through a generator: a loop or comprehension whose `iter` is `given`, or a call that is given it."""

    node: ast.AST
    given: ast.expr
    frame: Frame


def consumers(program: Program, iteration: Iteration) -> Iterator[Consumer]:
    """Who goes through the generator function that an iteration of a loader stands in, and that passes it all on."""
    yield from _of_function(program, iteration, iteration.named, iteration.frame, 0)


def _of_function(
    program: Program, iteration: Iteration, named: ast.expr | None, frame: Frame, depth: int
) -> Iterator[Consumer]:
    scope = frame.scope
    if not isinstance(scope, FunctionScope) or not scope.is_generator or depth >= _DEEPEST:
        return
    for call, given, caller in iterations.entered_by(program, named, frame, iteration.loader):
        at = _outermost(call)
        around = parent(at)
        if around is not None:
            yield Consumer(around, at, caller)
        if isinstance(around, (ast.For, ast.YieldFrom)):
            yield from _of_function(program, iteration, given, caller, depth + 1)


def _outermost(call: ast.Call) -> ast.expr:
    """The call, and around it what passes all of it on: `enumerate(tqdm(batches(loader)))`."""
    around = parent(call)
    while isinstance(around, ast.Call) and around.args[:1] == [call] and last_name(around.func) in _LEAVE_ALL:
        call, around = around, parent(around)
    return call
