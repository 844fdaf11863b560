"""What the project's own functions give back."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code.language.parameters import MOST_CALLERS
from dllint.code.language.values import UNKNOWNS, Collection, Const, Frame, Function, Values, merge

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator


def returned(ev: Evaluator, function: Function, call: ast.Call | None, frame: Frame) -> Values:
    """What a function returns when `call`, made in `frame`, enters it; `call` is None where nothing is passed."""
    scope = function.scope
    if frame.depth >= MOST_CALLERS:
        frame = Frame(frame.scope, frame.receiver)
    inner = Frame(scope, function.receiver, call, frame if call is not None else None, function.outer)
    if isinstance(scope.node, ast.Lambda):
        scope.index()
        return ev.infer(scope.node.body, inner)
    if scope.is_generator:
        if "contextmanager" in scope.decorators:
            return UNKNOWNS
        return (Collection("generator", scope.node, inner, each=UNKNOWNS),)
    if isinstance(scope.node, ast.AsyncFunctionDef):
        return UNKNOWNS
    values = [ev.infer(r.value, inner) for r in scope.returns if r.value is not None]
    return merge(values) if values else (Const(None, scope.node, scope),)
