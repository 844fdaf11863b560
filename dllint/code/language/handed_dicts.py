"""Dicts that are handed to functions which change them: `fix(config)` with `def fix(given): given["workers"] = 4`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language import dict_changes
from dllint.code.language.extra_arguments import own_places
from dllint.code.language.links import parent, scope_of
from dllint.code.language.run_before import Way, happens
from dllint.code.language.scopes import FunctionScope, Scope
from dllint.code.language.values import Collection, Frame, Function

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator

_DEEPEST = 3
"""Functions that hand a dict on to others."""
_Changes = Iterator[tuple[dict_changes.Change, Scope]]


def changes_by_functions(ev: Evaluator, made: Collection, use: ast.AST, frame: Frame) -> _Changes:
    """What functions do to a dict before a use, that it is handed to by the name which it is first given."""
    statement = parent(made.node)
    targets = statement.targets if isinstance(statement, ast.Assign) else ()
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    home = scope_of(made.node)
    calls = [(call, name) for name in names for call in home.calls_given(name)]
    if not calls:
        return
    way = Way(ev, use, frame)
    for call, name in calls:
        if way.is_behind(call, home) and call not in way.left_of(home) and happens(ev, call, Frame(home)):
            yield from _changes_by(ev, call, name, home, 0)


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _changes_by(ev: Evaluator, call: ast.Call, name: str, scope: Scope, depth: int) -> _Changes:
    for function in ev.infer(call.func, Frame(scope)):
        entered = function.scope if isinstance(function, Function) else None
        parameter = _parameter(entered, call, name) if entered is not None else None
        if entered is None or parameter is None:
            continue
        yield from ((change, entered) for change in dict_changes.changes(entered, parameter))
        for inner in entered.calls_given(parameter) if depth < _DEEPEST else ():
            yield from _changes_by(ev, inner, parameter, entered, depth + 1)


def _parameter(scope: FunctionScope, call: ast.Call, name: str) -> str | None:
    """What a function calls what a call gives it by a name."""
    pairs = [*zip(own_places(scope, call), call.args, strict=False), *((k.arg, k.value) for k in call.keywords)]
    return next((parameter for parameter, given in pairs if _is_name(given, name)), None)
