"""What the project's own functions give back."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code.language import conditions, folding
from dllint.code.language.parameters import MOST_CALLERS
from dllint.code.language.scopes import Scope
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
    returns = [r for r in scope.returns if r.value is not None]
    if call is not None and len(returns) > 1:
        returns = [r for r in returns if not _is_ruled_out(ev, r, inner)] or returns
    values = [ev.infer(r.value, inner) for r in returns if r.value is not None]
    return merge(values) if values else (Const(None, scope.node, scope),)


def _is_ruled_out(ev: Evaluator, node: ast.Return, frame: Frame) -> bool:
    """Whether the arguments of this call lead to another `return`: `load(x, "pt")`, `load(x, names=False)`."""
    tests = (found for found in conditions.leading_to(node) if _asks_for_argument(found[0], frame.scope))
    return any(folding.verdict(ev, test, frame) is (not outcome) for test, outcome in tests)


def _asks_for_argument(test: ast.expr, scope: Scope) -> bool:
    """Whether a test compares a parameter with a text, or asks whether it, or a switch of the module, is true."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _asks_for_argument(test.operand, scope)
    if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name):
        texts = all(isinstance(side, ast.Constant) and isinstance(side.value, str) for side in test.comparators)
        return texts and _is_parameter(test.left, scope)
    return isinstance(test, ast.Name) and (_is_parameter(test, scope) or _is_switch(test, scope))


def _is_parameter(name: ast.Name, scope: Scope) -> bool:
    bindings = scope.bindings.get(name.id, ())
    return len(bindings) == 1 and bindings[0].kind == "parameter"


def _is_switch(name: ast.Name, scope: Scope) -> bool:
    """Whether a name of the module is one constant for good: `DEBUG = False`."""
    home = scope.module
    if name.id in scope.bindings or name.id in home.set_by_functions:
        return False
    bindings = home.scope.bindings.get(name.id, [])
    return len(bindings) == 1 and bindings[0].kind == "assign" and isinstance(bindings[0].value, ast.Constant)
