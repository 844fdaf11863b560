"""Functions that a decorator of the project replaces by one of its own, which pickle does not find by its name."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code.language.scopes import FunctionScope
from dllint.code.language.values import Frame, Function

if TYPE_CHECKING:
    from dllint.code.program import Program

_NAMES = frozenset({"wraps", "update_wrapper", "wrap_function", "setattr"})
"""Calls in a decorator that may give the new function the name of the old one."""


def stands_for(program: Program, function: Function) -> FunctionScope | None:
    """The function within a decorator that a decorated function of a module is, if it certainly keeps its own name."""
    scope = function.scope
    if isinstance(scope.node, ast.Lambda) or scope.parent is not scope.module.scope or not scope.node.decorator_list:
        return None
    found = program.evaluator.values(scope.node.decorator_list[0], Frame(scope.parent))
    if len(found) != 1 or not isinstance(found[0], Function) or found[0].receiver is not None:
        return None
    return _given_back(program, found[0])


def _given_back(program: Program, decorator: Function) -> FunctionScope | None:
    """The one function of its own that a decorator returns, and does not name after another."""
    scope = decorator.scope
    if isinstance(scope.node, ast.Lambda) or scope.index().yields:
        return None
    returned = [part.value for part in scope.returns if part.value is not None]
    found = [v for node in returned for v in program.evaluator.values(node, Frame(scope, outer=decorator.outer))]
    made = {value.scope for value in found if isinstance(value, Function)}
    inner = made.pop() if len(made) == 1 and len(found) == len(returned) else None
    if inner is None or inner.parent is not scope or inner.decorators:
        return None
    is_named = any(scope.calls_of(name) for name in _NAMES) or any(w.name.startswith("__") for w in scope.writes)
    return None if is_named else inner
