"""What a project wraps around code: its own decorators, and the context managers that it enters.

Each question is answered by places: the calls by which decorators enter a function, the `yield` at which a context
manager lets its body run. What holds at such a place holds for what is wrapped, and each rule asks there for its own.
Decorators and context managers of libraries that are not seen have no places.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from dllint.code.language import classes, conditions
from dllint.code.language.links import parent
from dllint.code.language.scopes import ClassScope, FunctionScope, Scope
from dllint.code.language.values import ClassRef, Frame, Function, Instance, Values

if TYPE_CHECKING:
    from dllint.code.program import Program

Place = tuple[ast.AST, Frame]
"""A node, and the activation that it runs in."""
_MANAGERS = frozenset({"contextmanager", "asynccontextmanager"})
_DEEPEST = 3
"""Context managers within one another that are looked into."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def is_entered_where(program: Program, scope: Scope, holds: Callable[[ast.AST, Frame], bool]) -> bool:
    """Whether a decorator of the project enters a function only at places where something holds."""
    for decorator, frame in decorators(program, scope):
        places = list(_entering(program, decorator, frame))
        if places and all(holds(node, inside) for node, inside in places):
            return True
    return False


def decorators(program: Program, scope: Scope) -> Iterator[tuple[ast.expr, Frame]]:
    """What a function is given to: its decorators, and what is stored in its place, `D.get = quiet(D.get)`."""
    if not isinstance(scope, FunctionScope) or scope.parent is None:
        return
    home = Frame(scope.parent)
    yield from ((node, home) for node in getattr(scope.node, "decorator_list", ()))
    if scope.owner is not None:
        yield from _applied_later(program, scope, scope.owner)


def _applied_later(program: Program, method: FunctionScope, owner: ClassScope) -> Iterator[tuple[ast.expr, Frame]]:
    for module in program.modules_with(f".{method.name} ="):
        for write, scope in module.writes_of(method.name):
            value, holder = write.binding.value, write.target.value
            if write.element or not isinstance(value, ast.Call) or not _takes(value, method.name):
                continue
            if _is_class(program.evaluator.values(holder, Frame(scope)), owner) or _decorates(program, scope, owner):
                yield value.func, Frame(scope)


def _takes(call: ast.Call, name: str) -> bool:
    """Whether a call is given `anything.name`."""
    return any(isinstance(given, ast.Attribute) and given.attr == name for given in call.args)


def _is_class(found: Values, owner: ClassScope) -> bool:
    return any(isinstance(value, ClassRef) and value.cls is owner for value in found)


def _decorates(program: Program, scope: Scope, owner: ClassScope) -> bool:
    """Whether a function is a decorator of the class."""
    home = Frame(owner.parent) if owner.parent is not None else None
    found = (value for node in owner.node.decorator_list if home for value in program.evaluator.values(node, home))
    return any(isinstance(value, Function) and value.scope is scope for value in found)


def _entering(program: Program, decorator: ast.expr, frame: Frame) -> Iterator[Place]:
    """Where what a decorator makes calls the function that it was given."""
    found = list(managed(program, decorator, frame))
    if found:
        yield from found  # `@quiet()`: a context manager is a decorator, too
        return
    for value in program.evaluator.values(decorator, frame):
        if isinstance(value, Function):
            yield from _calls_of_first(value.scope, Frame(value.scope, value.receiver, outer=value.outer))
        elif isinstance(value, Instance):
            method = classes.method(program.evaluator, value.cls, "__call__")
            if method is not None:
                yield from _calls_of_first(method, Frame(method, value))
        elif isinstance(value, ClassRef):
            yield from _calls_of_kept(program, value)


def _calls_of_first(scope: FunctionScope, frame: Frame) -> Iterator[Place]:
    """The calls of the first parameter, in a function and in those within it."""
    given = [a.arg for a in scope.parameters if a.arg != scope.receiver_name][:1]
    for name in given:
        yield from _calls_within(scope, frame, name)


def _calls_within(scope: Scope, frame: Frame, name: str) -> Iterator[Place]:
    for call in scope.index().calls:
        if isinstance(call.func, ast.Name) and call.func.id == name:
            yield call, frame
    for child in scope.children.values():
        if isinstance(child, FunctionScope) and name not in child.index().bindings:
            yield from _calls_within(child, Frame(child, outer=frame), name)


def _calls_of_kept(program: Program, value: ClassRef) -> Iterator[Place]:
    """The calls of what `__init__` keeps of its first argument, where an object is called: `self.fn(*args)`."""
    ev = program.evaluator
    made, called = classes.method(ev, value.cls, "__init__"), classes.method(ev, value.cls, "__call__")
    if made is None or called is None or len(made.parameters) < 2:
        return
    first = made.parameters[1].arg
    stored = ((write.name, write.binding.value) for write in made.index().writes)
    kept = {name for name, value in stored if isinstance(value, ast.Name) and value.id == first}
    for call in called.index().calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr in kept:
            yield call, Frame(called, Instance(value.cls))


def managed(program: Program, context: ast.expr, frame: Frame) -> Iterator[Place]:
    """Where a generator of the project lets the body of `with context:` run: its `yield`."""
    made = conditions.flagged(context) if isinstance(context, ast.Name) else context
    if not isinstance(made, ast.Call) or frame.depth > _DEEPEST:
        return
    for value in program.evaluator.values(made.func, frame):
        if isinstance(value, Function) and value.scope.is_generator and _MANAGERS & set(value.scope.decorators):
            inside = Frame(value.scope, value.receiver, made, frame, value.outer)
            yield from ((node, inside) for node in value.scope.yields)


def methods_of_manager(program: Program, context: ast.expr, frame: Frame) -> dict[str, FunctionScope]:
    """The `__enter__` and `__exit__` of a context manager that is an object of a class of the project."""
    for value in program.evaluator.values(context, frame):
        if isinstance(value, Instance):
            named = ((name, classes.method(program.evaluator, value.cls, name)) for name in ("__enter__", "__exit__"))
            return {name: method for name, method in named if method is not None}
    return {}


def contexts(node: ast.AST) -> Iterator[ast.expr]:
    """What is entered around a node within its function: the nearest `with` first."""
    child, at = node, parent(node)
    while at is not None and not isinstance(at, _FUNCTIONS):
        if isinstance(at, (ast.With, ast.AsyncWith)) and not isinstance(child, ast.withitem):
            yield from (item.context_expr for item in at.items)
        child, at = at, parent(at)
