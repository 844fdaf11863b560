"""Constants of a module that a function may have replaced by the time that they are asked: `global WORKERS`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code.language.containers import is_of_module
from dllint.code.language.run_before import Way, happens
from dllint.code.language.scopes import FunctionScope, ModuleScope, Scope
from dllint.code.language.values import UNKNOWNS, Const, Frame, Number, Values

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator


def after_functions(ev: Evaluator, name: str, found: Values, use: ast.AST, scope: Scope, frame: Frame) -> Values:
    """What a name of a module is at a use: unknown where a function may have stored something else before."""
    if not isinstance(scope, ModuleScope) and not is_of_module(scope, name):
        return found
    setters = scope.module.set_by_functions.get(name, ())
    if not all(isinstance(value, (Const, Number)) for value in found):
        return found
    way = Way(ev, use, frame)
    before = (setter for setter, one in setters if happens(ev, one.node, Frame(setter)) and _is_another(setter, frame))
    return UNKNOWNS if any(map(way.has_passed, before)) else found


def _is_another(setter: FunctionScope, frame: Frame) -> bool:
    """Whether a function is not among those that lead to a use: what it stores is seen there in its order."""
    return all(inner.scope is not setter for inner in frame.way())
