"""Arguments of the Python calls that launch something, as settings."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from dllint.code.language.arguments import Argument, Arguments
from dllint.code.language.scopes import Scope
from dllint.code.language.values import Const, External, Frame
from dllint.deploy.workload import Setting

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_T = TypeVar("_T")


def library_name(node: ast.expr, scope: Scope, plan: Plan) -> str:
    """The dotted name of what an expression takes from a library; empty for anything else."""
    values = plan.program.evaluator.values(node, Frame(scope))
    return next((value.name for value in values if isinstance(value, External)), "")


def setting(
    arguments: Arguments, name: str, plan: Plan, read: Callable[[object], _T | None], position: int | None = None
) -> Setting[_T] | None:
    """An argument as a setting, read from its only constant; None where it is not passed, or passed as None."""
    argument = arguments.named.get(name)
    if argument is None and position is not None and position < len(arguments.positional):
        argument = arguments.positional[position]
    return of_argument(argument, plan, read) if argument is not None else None


def of_argument(argument: Argument, plan: Plan, read: Callable[[object], _T | None]) -> Setting[_T] | None:
    """One argument as a setting; None where it is None."""
    values = argument.values(plan.program.evaluator)
    if all(isinstance(value, Const) and value.value is None for value in values):
        return None
    at = argument.frame.scope.module.location(argument.node)
    value = values[0] if len(values) == 1 and argument.certain else None
    written = ast.unparse(argument.node)
    return Setting(read(value.value) if isinstance(value, Const) else None, at, written)


def text(value: object) -> str | None:
    """A constant that is a text."""
    return value if isinstance(value, str) else None


def whole(value: object) -> int | None:
    """A constant that is a whole number, also as a text."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 18:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
