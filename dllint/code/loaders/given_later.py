"""Numbers of workers that a class starts with, and that its subclasses, or who makes its objects, replace."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code.language.arguments import Argument
from dllint.code.language.classes import is_set_from_outside, sets_by_text
from dllint.code.language.scopes import ClassScope, FunctionScope
from dllint.code.language.values import Const, Values

if TYPE_CHECKING:
    from dllint.code.program import Program


def is_given_later(program: Program, argument: Argument, values: Values) -> bool:
    """Whether `self.workers`, which is 0 in a class that builds loaders, is something else where an object is used: a
    subclass stores it, or code outside of the class does."""
    scope, node = argument.frame.scope, argument.node
    if not isinstance(scope, FunctionScope) or scope.owner is None or argument.frame.receiver is not None:
        return False
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return False
    if node.value.id != scope.receiver_name or not all(isinstance(v, Const) and v.value == 0 for v in values):
        return False
    if is_set_from_outside(program.evaluator, scope.owner, node.attr):
        return True
    return any(_may_store(below, node.attr) for below in program.subclasses_of(scope.owner))


def _may_store(cls: ClassScope, name: str) -> bool:
    return bool(cls.writes_of(name)) or name in cls.index().bindings or sets_by_text(cls)
