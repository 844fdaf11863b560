"""Functions that are only taken where nothing is given: `self.crop = crop or (lambda image: image)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language import conditions
from dllint.code.language.containers import is_none
from dllint.code.language.links import parent
from dllint.code.language.scopes import dotted
from dllint.code.language.values import Const, Frame, Function, by_default

if TYPE_CHECKING:
    from dllint.code.program import Program


def stands_in(program: Program, function: Function, frame: Frame) -> bool:
    """Whether a function of the scope of a frame is only taken where nothing is given, and something is."""
    if function.scope.parent is not frame.scope:
        return False
    return any(not _may_be_missing(program, given, frame) for given in _wanted_instead(function.scope.node))


def _may_be_missing(program: Program, given: ast.expr, frame: Frame) -> bool:
    found = by_default(program.evaluator.values(given, frame))
    return any(isinstance(value, Const) and not value.value for value in found)


def _wanted_instead(node: ast.AST) -> Iterator[ast.expr]:
    """What is missing, or counts as false, wherever a node is reached."""
    for test, outcome in conditions.each_alone(conditions.leading_to(node)):
        if isinstance(test, ast.Compare) and is_none(test.comparators[-1]) and isinstance(test.left, _NAMES):
            if isinstance(test.ops[0], (ast.Is, ast.Eq)) is outcome:
                yield test.left
        elif isinstance(test, _NAMES) and not outcome and _takes_the_place(node, test):
            yield test


_NAMES = (ast.Name, ast.Attribute)


def _takes_the_place(node: ast.AST, given: ast.expr) -> bool:
    """Whether a node is what stands where something else would: other tests are of flags, and say nothing of it."""
    around = parent(node)
    if isinstance(around, ast.IfExp):
        return dotted(around.body) == dotted(given)
    if isinstance(around, ast.Assign):
        return any(dotted(target) == dotted(given) for target in around.targets)
    return isinstance(around, ast.BoolOp)
