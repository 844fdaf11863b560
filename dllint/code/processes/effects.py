"""What has certainly run when a place is reached: in its function, in its callers, in what is imported first."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from dllint.code.language import classes, conditions
from dllint.code.language.links import block_of
from dllint.code.language.modules import Module
from dllint.code.language.scopes import FunctionScope, Scope
from dllint.code.language.values import ClassRef, Frame, Function, Instance
from dllint.finding import Related
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

_DEEPEST = 3
"""Calls outwards, and calls into functions, that are followed."""
_MOST_CALLERS = 4


@dataclass(frozen=True, slots=True)
class Effect:
    """A call that has run, or a loop; with the way to it from the function that was asked about."""

    node: ast.AST
    frame: Frame
    way: tuple[Related, ...] = ()


def earlier(
    program: Program, node: ast.AST, frame: Frame, depth: int = 0, follows: Callable[[ast.Call], bool] | None = None
) -> Iterator[Effect]:
    """The calls and loops that have certainly run when `node` is reached, the nearest function's first.

    Of the callers only those count whose call `follows` takes, if it is given.
    """
    scope = frame.scope
    yield from _before(program, node, frame)
    if isinstance(scope, FunctionScope):
        sites = program.call_sites(scope)[:_MOST_CALLERS] if depth < _DEEPEST else []
        for call, caller in sites:
            if not caller.scope.module.is_test and (follows is None or follows(call)):
                yield from earlier(program, call, caller, depth + 1, follows)
    else:
        for module in imported_before(program, node, scope):
            yield from at_import(program, module)


def _before(program: Program, node: ast.AST, frame: Frame) -> Iterator[Effect]:
    block = block_of(node)
    for part in _parts(frame.scope):
        if (_end(part) <= _start(node) or _is_receiver(part, node)) and block_of(part).holds(block):
            yield Effect(part, frame)
            yield from within(program, part, frame)


def _is_receiver(part: ast.AST, node: ast.AST) -> bool:
    """Whether a call makes the object whose method another call is: `App().start()`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.value is part


def _parts(scope: Scope) -> list[ast.AST]:
    """The calls and loops of a scope in the order of the source."""
    scope.index()
    return sorted([*scope.calls, *(loop for loop in scope.loops if isinstance(loop, ast.stmt))], key=_start)


def within(program: Program, node: ast.AST, frame: Frame, depth: int = 0) -> Iterator[Effect]:
    """What the function that a call enters does on every way."""
    if not isinstance(node, ast.Call) or depth >= _DEEPEST:
        return
    for inner in _entered(program, node, frame):
        hop = Related(f"{inner.scope.qualname} called here", frame.scope.module.location(node))
        for part in _parts(inner.scope):
            if not is_on_every_way(part):
                continue
            yield Effect(part, inner, (hop,))
            for effect in within(program, part, inner, depth + 1):
                yield Effect(effect.node, effect.frame, (hop, *effect.way))


def _entered(program: Program, call: ast.Call, frame: Frame) -> Iterator[Frame]:
    """The functions of the project whose body a call runs at once: for a class its `__init__`."""
    for value in program.evaluator.values(call.func, frame):
        if isinstance(value, Function) and not value.scope.is_generator:
            yield Frame(value.scope, value.receiver, call, frame, value.outer)
        elif isinstance(value, ClassRef):
            making = classes.method(program.evaluator, value.cls, "__init__")
            if making is not None:
                yield Frame(making, Instance(value.cls, call, frame), call, frame)


def is_on_every_way(node: ast.AST) -> bool:
    """Whether nothing decides about a statement of a function or module."""
    return block_of(node).parent is None


def at_import(program: Program, module: Module, runs: Callable[[ast.AST], bool] = is_on_every_way) -> Iterator[Effect]:
    """What runs whenever a module is imported, outside of the main guard: of its statements those that `runs` takes."""
    frame = Frame(module.scope)
    for part in _parts(module.scope):
        if runs(part) and not conditions.is_guarded(part):
            yield Effect(part, frame)
            yield from within(program, part, frame)


def imported_before(program: Program, node: ast.AST, scope: Scope) -> Iterator[Module]:
    """The modules of the project that a module has imported when it comes to a node."""
    module = scope.module
    seen: set[int] = set()
    for bindings in module.scope.bindings.values():
        for binding in bindings:
            statement = binding.node
            if binding.kind != "import" or _start(statement) > _start(node) or id(statement) in seen:
                continue
            seen.add(id(statement))
            found = _module_of(program, statement, module)
            if found is not None:
                yield found


def _module_of(program: Program, statement: ast.AST, module: Module) -> Module | None:
    if isinstance(statement, ast.ImportFrom):
        if statement.level:
            return program.modules.relative(module, statement.level, statement.module)
        return program.modules.find(statement.module or "", module)
    if isinstance(statement, ast.Import):
        return next((m for a in statement.names if (m := program.modules.find(a.name, module)) is not None), None)
    return None


def _start(node: ast.AST) -> tuple[int, int]:
    return (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))


def _end(node: ast.AST) -> tuple[int, int]:
    return (getattr(node, "end_lineno", 0) or 0, getattr(node, "end_col_offset", 0) or 0)
