"""What runs in a function's place: what the decorators of the project make of it, or what is stored there later."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language import wrappers
from dllint.code.language.callables import callable_method
from dllint.code.language.links import block_of, parent, set_parent
from dllint.code.language.scopes import FunctionScope, ModuleScope, Scope, last_name
from dllint.code.language.values import Frame, Function, Instance, Value, Values
from dllint.code.language.wrappers import Place
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

_COPIES_NAMES = frozenset({"wraps", "update_wrapper"})
_NAMES = frozenset({"__name__", "__qualname__", "__doc__", "__module__", "__dict__"})
"""What is asked of a function without calling it."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """A function that runs where another is called: its activation, and the calls of the other that it has."""

    frame: Frame
    node: ast.expr
    """The decorator, or what is stored in the other's place."""
    places: tuple[Place, ...]
    drops: bool
    """Whether the other is not even looked at, and so never runs."""

    @property
    def scope(self) -> FunctionScope:
        """The function that runs."""
        assert isinstance(self.frame.scope, FunctionScope)
        return self.frame.scope


def replacements(program: Program, scope: Scope) -> tuple[Replacement, ...]:
    """What runs in a function's place, as far as it is certain; the outermost first."""
    memo = program.facts.replaced_memo
    if scope not in memo:
        memo[scope] = ()  # what a function that decorates itself sees
        memo[scope] = tuple(_replacements(program, scope)) if isinstance(scope, FunctionScope) else ()
    return memo[scope]


def is_dropped(program: Program, scope: Scope) -> bool:
    """Whether what runs in a function's place never calls it, nor hands it on."""
    return any(found.drops for found in replacements(program, scope))


def _replacements(program: Program, scope: FunctionScope) -> Iterator[Replacement]:
    if scope.parent is None:
        return
    for node, frame in wrappers.stored_later(program, scope):
        found = _running(program, program.evaluator.values(node, frame), scope)
        if found is not None:
            places = tuple(wrappers.places_of_stored(program, scope, node, frame))
            is_sure = isinstance(frame.scope, ModuleScope) and block_of(node).parent is None
            yield Replacement(found, node, places, is_sure and not places and isinstance(node, (ast.Name, ast.Lambda)))
    home = Frame(scope.parent)
    for node, name in zip(getattr(scope.node, "decorator_list", ()), scope.decorators, strict=True):
        if name in program.defined_names:
            yield from _of_decorator(program, node, home, scope)


def _of_decorator(program: Program, node: ast.expr, home: Frame, scope: FunctionScope) -> Iterator[Replacement]:
    decorating = program.evaluator.values(node, home)
    found = _running(program, program.evaluator.values(_decorated(node, scope), home), scope)
    if found is not None and len(decorating) == 1:
        places = tuple(wrappers.calls_of_given(program, decorating[0]))
        yield Replacement(found, node, places, _never_looks(program, decorating[0]))


def _decorated(decorator: ast.expr, scope: FunctionScope) -> ast.Call:
    """The call that `@decorator` stands for, behind the function."""
    name = ast.Name(id=scope.name, ctx=ast.Load(), lineno=scope.span[1] + 1, col_offset=0)
    call = ast.Call(func=decorator, args=[name], keywords=[], lineno=name.lineno, col_offset=0)
    set_parent(name, call)
    set_parent(call, parent(scope.node))
    return call


def _running(program: Program, values: Values, scope: FunctionScope) -> Frame | None:
    """The activation that calling a value starts, if that is a single other function."""
    value = values[0] if len(values) == 1 else None
    if isinstance(value, Instance):
        called = callable_method(program, value)
        return Frame(called, value) if called is not None else None
    if isinstance(value, Function) and value.scope is not scope:
        # In a method's place it is given what the method would be: the object first.
        owner = Instance(scope.owner) if scope.receiver_name is not None and scope.owner is not None else None
        return Frame(value.scope, value.receiver or owner, outer=value.outer)
    return None


def _never_looks(program: Program, decorator: Value) -> bool:
    """Whether a decorator does nothing with its function but to ask for its name."""
    given = list(wrappers.decorating(program, decorator))
    return bool(given) and not any(_looks(scope, name) for scope, _, name in given)


def _looks(scope: FunctionScope, name: str) -> bool:
    nodes = list(ast.walk(scope.node))
    named = {id(given) for node in nodes for given in _only_named(node)}
    return any(isinstance(node, ast.Name) and node.id == name and id(node) not in named for node in nodes)


def _only_named(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Call) and last_name(node) in _COPIES_NAMES:
        return node.args
    return [node.value] if isinstance(node, ast.Attribute) and node.attr in _NAMES else []
