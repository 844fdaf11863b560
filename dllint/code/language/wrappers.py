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
from dllint.code.language.callables import innermost
from dllint.code.language.links import parent, scope_of
from dllint.code.language.modules import Module
from dllint.code.language.scopes import ClassScope, FunctionScope, Scope, last_name
from dllint.code.language.values import ClassRef, Frame, Function, Instance, Product, Value

if TYPE_CHECKING:
    from dllint.code.program import Program

Place = tuple[ast.AST, Frame]
"""A node, and the activation that it runs in."""
_MANAGERS = frozenset({"contextmanager", "asynccontextmanager"})
_STACKS = frozenset({"ExitStack", "AsyncExitStack"})
_ENTERS = ("enter_context", "enter_async_context")
_DEEPEST = 3
"""Context managers, or decorators, within one another that are looked into."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def is_entered_where(program: Program, scope: Scope, holds: Callable[[ast.AST, Frame], bool]) -> bool:
    """Whether a decorator of the project, or what is stored in a method's place, enters a function only at places where
    something holds."""
    entrances = (places for places in _entrances(program, scope) if places)
    return any(all(holds(node, inside) for node, inside in places) for places in entrances)


def _entrances(program: Program, scope: Scope) -> Iterator[list[Place]]:
    for decorator, frame in decorators(program, scope):
        for value in program.evaluator.values(decorator, frame):
            yield list(calls_of_given(program, value))
    if isinstance(scope, FunctionScope):
        for stored, frame in stored_later(program, scope):
            yield from _entrances_of_stored(program, scope, stored, frame)


def _entrances_of_stored(program: Program, scope: Scope, stored: ast.expr, frame: Frame) -> Iterator[list[Place]]:
    for value in program.evaluator.values(stored, frame) if isinstance(stored, ast.Name) else ():
        if isinstance(value, Function):
            yield list(_calls_of_replaced(value, scope.name))


def places_of_stored(program: Program, scope: Scope, stored: ast.expr, frame: Frame) -> Iterator[Place]:
    """Where what is stored in a method's place calls the method."""
    if isinstance(stored, ast.Call) and _takes(stored, scope.name):
        for value in program.evaluator.values(stored.func, frame):
            yield from calls_of_given(program, value)
    for places in _entrances_of_stored(program, scope, stored, frame):
        yield from places


def decorators(program: Program, scope: Scope) -> Iterator[tuple[ast.expr, Frame]]:
    """What a function is given to: its decorators, what is stored in its place, `D.get = quiet(D.get)`, and what those
    of the project give it to in turn."""
    if not isinstance(scope, FunctionScope) or scope.parent is None:
        return
    home = Frame(scope.parent)
    found = [(node, home) for node in getattr(scope.node, "decorator_list", ())]
    stored = stored_later(program, scope)
    found += [(node.func, at) for node, at in stored if isinstance(node, ast.Call) and _takes(node, scope.name)]
    for _ in range(_DEEPEST):
        yield from found
        found = [onward for node, frame in found for onward in _given_on(program, node, frame)]


def _given_on(program: Program, decorator: ast.expr, frame: Frame) -> Iterator[tuple[ast.expr, Frame]]:
    """What a decorator of the project gives its function to: `return torch.no_grad()(fn)`, `return run(fn, *args)`."""
    for value in program.evaluator.values(decorator, frame):
        for function, inside, name in decorating(program, value):
            for call, at in _calls_within(function, inside):
                if call.args and isinstance(call.args[0], ast.Name) and call.args[0].id == name:
                    yield call.func, at


def stored_later(program: Program, method: FunctionScope) -> Iterator[tuple[ast.expr, Frame]]:
    """What is stored in the place of a method of a class, by whoever has the class or decorates it: something that is
    made of the method, or a function by its name."""
    owner = method.owner
    if owner is None or not program.modules_with(f".{method.name} ="):
        return
    of_class = _class_decorators(program, owner)
    named = program.modules_with(f".{method.name} =", owner.name)
    for module in dict.fromkeys([*named, *(scope.module for scope in of_class)]):
        for value, holder, scope in _stores_in(program, module, method.name):
            if scope in of_class or _is_class(program, holder, Frame(scope), owner):
                yield value, Frame(scope)


def _stores_in(program: Program, module: Module, name: str) -> list[tuple[ast.expr, ast.expr, Scope]]:
    """What a module stores under an attribute that may be a method, on what, and where."""
    memo = program.method_stores_memo
    if (module, name) not in memo:
        writes = ((write, write.binding.value, scope) for write, scope in module.writes_of(name) if not write.element)
        memo[module, name] = [
            (value, write.target.value, scope)
            for write, value, scope in writes
            if isinstance(value, (ast.Name, ast.Lambda)) or (isinstance(value, ast.Call) and _takes(value, name))
        ]
    return memo[module, name]


def _takes(call: ast.Call, name: str) -> bool:
    """Whether a call is given `anything.name`."""
    return any(isinstance(given, ast.Attribute) and given.attr == name for given in call.args)


def _is_class(program: Program, holder: ast.expr, frame: Frame, owner: ClassScope) -> bool:
    """Whether an expression is a class, asked of names alone: an object is given its own attributes."""
    if isinstance(frame.scope, FunctionScope) and last_name(holder) == frame.scope.receiver_name:
        return False
    return any(isinstance(v, ClassRef) and v.cls is owner for v in program.evaluator.values(holder, frame))


def _class_decorators(program: Program, owner: ClassScope) -> list[Scope]:
    """The functions of the project that decorate a class."""
    if owner.parent is None or not owner.node.decorator_list:
        return []
    found = [v for node in owner.node.decorator_list for v in program.evaluator.values(node, Frame(owner.parent))]
    return [value.scope for value in found if isinstance(value, Function)]


def decorating(program: Program, value: Value) -> Iterator[tuple[FunctionScope, Frame, str]]:
    """The function of the project that a decorator is, and its parameter that holds what is decorated."""
    target = innermost(value)
    if isinstance(target, Instance):
        called = classes.method(program.evaluator, target.cls, "__call__")
        target = Function(called, target) if called is not None else target
    if not isinstance(target, Function):
        return
    names = [a.arg for a in target.scope.parameters if a.arg != target.scope.receiver_name]
    if names:
        yield target.scope, Frame(target.scope, target.receiver, outer=target.outer), names[0]


def calls_of_given(program: Program, value: Value) -> Iterator[Place]:
    """Where what a decorator makes calls the function that it was given."""
    for scope, frame, name in decorating(program, value):
        calls = _calls_within(scope, frame)
        yield from ((call, at) for call, at in calls if isinstance(call.func, ast.Name) and call.func.id == name)
    if isinstance(value, ClassRef):
        yield from _calls_of_kept(program, value)


def _calls_of_replaced(value: Function, name: str) -> Iterator[Place]:
    """The calls in what replaces a method of the method itself, by a name that holds it: `read = cls.get`."""
    for call, at in _calls_within(value.scope, Frame(value.scope, value.receiver, outer=value.outer)):
        held = last_name(call.func) if isinstance(call.func, ast.Name) else ""
        bound = next((s.index().bindings[held] for s in (at.scope, *at.scope.outer) if held in s.index().bindings), ())
        if any(isinstance(one.value, ast.Attribute) and one.value.attr == name for one in bound):
            yield call, at


def _calls_within(scope: Scope, frame: Frame) -> Iterator[tuple[ast.Call, Frame]]:
    """The calls in a function and in those within it."""
    yield from ((call, frame) for call in scope.index().calls)
    for child in scope.children.values():
        if isinstance(child, FunctionScope):
            yield from _calls_within(child, Frame(child, outer=frame))


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
    if not isinstance(context, ast.Call) or frame.depth > _DEEPEST:
        return
    for value in program.evaluator.values(context.func, frame):
        function = value if isinstance(value, Function) and _MANAGERS & set(value.scope.decorators) else None
        for made in _made_of(program, value) if function is None else (function,):
            if made.scope.is_generator:
                inside = Frame(made.scope, made.receiver, context, frame, made.outer)
                yield from ((node, inside) for node in made.scope.yields)


def _made_of(program: Program, value: Value) -> Iterator[Function]:
    """The generator in `quiet = contextlib.contextmanager(generator)`."""
    if isinstance(value, Product) and value.name.rpartition(".")[2] in _MANAGERS:
        found = (v for given in value.node.args for v in program.evaluator.values(given, value.frame))
        yield from (v for v in found if isinstance(v, Function))


def methods_of_manager(program: Program, context: ast.expr, frame: Frame) -> dict[str, FunctionScope]:
    """The `__enter__` and `__exit__` of a context manager that is an object of a class of the project."""
    for value in program.evaluator.values(context, frame):
        if isinstance(value, Instance):
            named = ((name, classes.method(program.evaluator, value.cls, name)) for name in ("__enter__", "__exit__"))
            return {name: method for name, method in named if method is not None}
    return {}


def contexts(node: ast.AST) -> Iterator[ast.expr]:
    """What is entered around a node within its function, the nearest first: by `with`, by its name, by an ExitStack."""
    child, at = node, parent(node)
    while at is not None and not isinstance(at, _FUNCTIONS):
        if isinstance(at, (ast.With, ast.AsyncWith)) and not isinstance(child, ast.withitem):
            for item in at.items:
                yield from _entered_by(item.context_expr)
        child, at = at, parent(at)


def _entered_by(context: ast.expr) -> Iterator[ast.expr]:
    yield conditions.flagged(context) or context
    if last_name(context) in _STACKS:
        enters = (call for name in _ENTERS for call in scope_of(context).index().calls_of(name))
        yield from (argument for call in enters for argument in call.args)
