"""Exceptions: what catches them on their way out of a function, and what carries them out of a worker."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language import classes, wrappers
from dllint.code.language.links import parent, scope_of
from dllint.code.language.scopes import ClassScope, FunctionScope, last_name, origin_name
from dllint.code.language.values import ClassRef, Frame, Instance
from dllint.code.workers.reach import Step

if TYPE_CHECKING:
    from dllint.code.program import Program

_CATCH_ALL = frozenset({"Exception", "BaseException"})


def is_caught(program: Program, node: ast.AST, step: Step, names: frozenset[str]) -> bool:
    """Whether an exception that `node` raises is caught in its function, or by those that lead there.

    `names` are those of its class and of the classes that this derives from.
    """
    at: Step | None = step
    inner: ast.AST | None = node
    while at is not None and inner is not None:
        if is_caught_here(program, inner, at.frame, names):
            return True
        inner, at = at.call, at.parent
    return False


def is_caught_here(program: Program, node: ast.AST, frame: Frame, names: frozenset[str]) -> bool:
    """Whether an exception that `node` raises is caught in its own function, or by what the project wraps around it."""
    if _is_caught_within(node, names) or _is_managed(program, node, frame, names):
        return True
    if any(_catches_body(program, node, home, names) for node, home in wrappers.decorators(program, frame.scope)):
        return True
    return wrappers.is_entered_where(program, frame.scope, lambda call, inner: _is_kept(program, call, inner, names))


def _is_kept(program: Program, node: ast.AST, frame: Frame, names: frozenset[str]) -> bool:
    """Whether what the project wraps around code keeps an exception that comes out at a node of it."""
    return _is_caught_within(node, names, whole=True) or _is_managed(program, node, frame, names)


def _is_managed(program: Program, node: ast.AST, frame: Frame, names: frozenset[str]) -> bool:
    return any(_catches_body(program, context, frame, names) for context in wrappers.contexts(node))


def _catches_body(program: Program, context: ast.expr, frame: Frame, names: frozenset[str]) -> bool:
    """Whether a context manager keeps an exception of the body from going on: one of the project, or `suppress`."""
    if _suppresses(context, names):
        return True
    if any(_is_kept(program, node, inside, names) for node, inside in wrappers.managed(program, context, frame)):
        return True
    leaving = wrappers.methods_of_manager(program, context, frame).get("__exit__")
    return leaving is not None and _may_stop(leaving)


def _may_stop(leaving: FunctionScope) -> bool:
    """Whether an `__exit__` may keep an exception, or raise another: it gives something else than False or None."""
    given = (returned.value for returned in leaving.index().returns if returned.value is not None)
    return bool(leaving.raises) or any(not isinstance(value, ast.Constant) or bool(value.value) for value in given)


def _is_caught_within(node: ast.AST, names: frozenset[str], *, whole: bool = False) -> bool:
    """The same of the statements of its function alone; `whole`: one that raises it again does not count."""
    child, at = node, parent(node)
    while at is not None and not isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module)):
        if isinstance(at, ast.stmt) and _stops(at, names, whole=whole) and _is_in_body(child, at):
            return True
        child, at = at, parent(at)
    return False


def _is_in_body(child: ast.AST, around: ast.stmt) -> bool:
    """Whether a part of a `try` or `with` is a statement of its body: told by its place, as bodies may be long."""
    body = getattr(around, "body", ())
    if not body or not isinstance(child, ast.stmt):
        return False
    return (child.lineno, child.col_offset) <= (body[-1].lineno, body[-1].col_offset)


def _stops(around: ast.AST, names: frozenset[str], *, whole: bool) -> bool:
    """Whether a statement keeps an exception that its body raises from going on."""
    if isinstance(around, (ast.With, ast.AsyncWith)):
        return any(_suppresses(item.context_expr, names) for item in around.items)
    caught = [handler for handler in getattr(around, "handlers", ()) if _catches(handler.type, names)]
    return any(not (whole and _raises_again(handler)) for handler in caught[:1])


def _raises_again(handler: ast.ExceptHandler) -> bool:
    """Whether a handler ends with a bare `raise`, or one of the exception by its name."""
    last = handler.body[-1]
    if not isinstance(last, ast.Raise):
        return False
    return last.exc is None or (isinstance(last.exc, ast.Name) and last.exc.id == handler.name)


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
    if not isinstance(context, ast.Call) or origin_name(context, scope_of(context)) != "suppress":
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
            if not is_caught(program, node, step, _names(program, value.cls)):
                yield node, value.cls


def _names(program: Program, cls: ClassScope) -> frozenset[str]:
    """The last names of a class and of all that it derives from."""
    order = classes.mro(program.evaluator, cls)
    return frozenset(base.rpartition(".")[2] if isinstance(base, str) else base.name for base in order)
