"""Exceptions: what catches them on their way out of a function, and what carries them out of a worker."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language import classes
from dllint.code.language.links import parent
from dllint.code.language.scopes import ClassScope, last_name
from dllint.code.language.values import ClassRef, Instance
from dllint.code.workers.reach import Step

if TYPE_CHECKING:
    from dllint.code.program import Program

_CATCH_ALL = frozenset({"Exception", "BaseException"})


def is_caught(node: ast.AST, step: Step, names: frozenset[str]) -> bool:
    """Whether an exception that `node` raises is caught in its function, or by those that lead there.

    `names` are those of its class and of the classes that this derives from.
    """
    at: Step | None = step
    inner: ast.AST | None = node
    while at is not None and inner is not None:
        if is_caught_here(inner, names):
            return True
        inner, at = at.call, at.parent
    return False


def is_caught_here(node: ast.AST, names: frozenset[str]) -> bool:
    """Whether an exception that `node` raises is caught in its own function."""
    child, at = node, parent(node)
    while at is not None and not isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module)):
        if isinstance(at, ast.stmt) and _stops(at, names) and _is_in_body(child, at):
            return True
        child, at = at, parent(at)
    return False


def _is_in_body(child: ast.AST, around: ast.stmt) -> bool:
    """Whether a part of a `try` or `with` is a statement of its body: told by its place, as bodies may be long."""
    body = getattr(around, "body", ())
    if not body or not isinstance(child, ast.stmt):
        return False
    return (child.lineno, child.col_offset) <= (body[-1].lineno, body[-1].col_offset)


def _stops(around: ast.AST, names: frozenset[str]) -> bool:
    """Whether a statement keeps an exception that its body raises from going on."""
    if isinstance(around, (ast.With, ast.AsyncWith)):
        return any(_suppresses(item.context_expr, names) for item in around.items)
    return any(_catches(handler.type, names) for handler in getattr(around, "handlers", ()))


def is_handling(node: ast.AST, name: str) -> bool:
    """Whether a node stands in the handler of an exception, where what raised it has been dealt with."""
    at = parent(node)
    while at is not None and not isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module)):
        if isinstance(at, ast.ExceptHandler) and _catches(at.type, frozenset({name})):
            return True
        at = parent(at)
    return False


def _catches(kind: ast.expr | None, names: frozenset[str]) -> bool:
    """Whether a handler takes an exception of these names; one whose class cannot be read may."""
    if kind is None:
        return True
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    caught = {last_name(k) for k in kinds}
    return bool(caught & (names | _CATCH_ALL)) or "" in caught


def _suppresses(context: ast.expr, names: frozenset[str]) -> bool:
    if not isinstance(context, ast.Call) or last_name(context) != "suppress":
        return False
    return any(_catches(kind, names) for kind in context.args)


def raised(program: Program, step: Step) -> Iterator[tuple[ast.Raise, ClassScope]]:
    """The exceptions of project classes that leave a function: each `raise` with its class."""
    for node in step.scope.index().raises:
        if node.exc is None:
            continue
        target = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        for value in program.evaluator.values(target, step.frame):
            if not isinstance(value, (ClassRef, Instance)):
                continue
            if not is_caught(node, step, _names(program, value.cls)):
                yield node, value.cls


def _names(program: Program, cls: ClassScope) -> frozenset[str]:
    """The last names of a class and of all that it derives from."""
    order = classes.mro(program.evaluator, cls)
    return frozenset(base.rpartition(".")[2] if isinstance(base, str) else base.name for base in order)
