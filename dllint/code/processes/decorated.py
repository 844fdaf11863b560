"""Functions that a decorator of the project replaces by one of its own, which pickle does not find by its name."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code.language import conditions
from dllint.code.language.links import parent, scope_of
from dllint.code.language.scopes import FunctionScope, ModuleScope, Scope
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
    frame = Frame(scope, outer=decorator.outer)
    ways = [part for part in scope.returns if not conditions.is_unreachable(program.evaluator, part, frame)]
    returned = [part.value for part in ways if part.value is not None]
    found = [value for node in returned for value in program.evaluator.values(node, frame)]
    made = {value.scope for value in found if isinstance(value, Function)}
    is_one = len(made) == 1 and all(isinstance(value, Function) for value in found)
    inner = made.pop() if is_one else None
    if inner is None or inner.parent is not scope or inner.decorators or _gives_names(scope):
        return None
    return inner


def is_found_by_name(function: Function) -> bool:
    """Whether a function within a decorator has the name of the one that it stands for, and the module has it under
    that: `collate = logged(collate)`, with functools.wraps."""
    outer = function.outer
    call = outer.call if outer is not None else None
    statement = parent(call) if call is not None else None
    if outer is None or not isinstance(outer.scope, FunctionScope) or not isinstance(statement, ast.Assign):
        return False
    if not isinstance(scope_of(statement), ModuleScope) or not _gives_names(outer.scope):
        return False
    names = {target.id for target in statement.targets if isinstance(target, ast.Name)}
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(statement.value))


def _gives_names(decorator: Scope) -> bool:
    """Whether a decorator may give its own function the name of the one that it is given."""
    return any(decorator.calls_of(name) for name in _NAMES) or any(w.name.startswith("__") for w in decorator.writes)
