"""Functions of worker code that remember what they gave for each item, without an end."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language.containers import is_made_empty, is_none
from dllint.code.language.scopes import Scope, dotted
from dllint.code.language.values import Derived, External, Frame, Product, Value, Values
from dllint.code.workers.keys import is_kept_for_each, is_small
from dllint.code.workers.reach import Step
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.facts import WorkerEntry
    from dllint.code.program import Program


@dataclass(frozen=True, slots=True)
class Cache:
    """One place in worker code that keeps something for each item."""

    what: str
    node: ast.AST
    scope: Scope
    """Where `node` stands."""
    step: Step
    """The function of worker code that fills it."""


def of_step(entry: WorkerEntry, step: Step) -> Iterator[Cache]:
    """The function of a step, if it remembers all its results, and those that it calls through a wrapper."""
    if not any(map(step.scope.module.lines_with, ("lru_cache", "cache", "cached"))):
        return
    home = Frame(step.scope.parent or step.scope)
    for decorator in getattr(step.scope.node, "decorator_list", ()):
        if _is_unbounded(entry.program, decorator, home) and _remembers_each(entry, step):
            yield Cache(f"{step.scope.qualname}()", decorator, step.scope, step)
    yield from _wrapped(entry, step)


def _is_unbounded(program: Program, decorator: ast.expr, frame: Frame) -> bool:
    """Whether a decorator keeps all results: `@cache`, `@lru_cache(maxsize=None)`, `@cached(cache={})`."""
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    names = {v.name for v in program.evaluator.values(function, frame) if isinstance(v, External)}
    if not names & apis.REMEMBERS:
        return False
    return "functools.cache" in names or (isinstance(decorator, ast.Call) and _has_no_bound(decorator))


def _has_no_bound(call: ast.Call) -> bool:
    given = [*call.args[:1], *(k.value for k in call.keywords if k.arg in ("maxsize", "cache"))]
    return any(is_none(node) or (isinstance(node, ast.Dict) and is_made_empty(node)) for node in given)


def _remembers_each(entry: WorkerEntry, step: Step) -> bool:
    """Whether a function is called with something else for each item, and what it gives is no trifle."""
    values = _results(entry.program, step)
    if step.scope.is_generator or not values or all(map(is_small, values)):
        return False
    if step.parent is None or step.call is None:
        return any(entry.variation.parameter(p.arg, step) is True for p in step.scope.parameters)
    given = _given(step.call)
    return any(is_kept_for_each(entry, node, step.parent, values) for node in given)


def _results(program: Program, step: Step) -> Values:
    returned = [statement.value for statement in step.scope.index().returns if statement.value is not None]
    return tuple(value for node in returned for value in program.evaluator.values(node, step.frame))


def _given(call: ast.AST) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)] if isinstance(call, ast.Call) else []


def _wrapped(entry: WorkerEntry, step: Step) -> Iterator[Cache]:
    """The calls of `self.load = functools.lru_cache(maxsize=None)(self._load)`."""
    program = entry.program
    for call in step.scope.index().calls:
        if not dotted(call.func):
            continue
        found = program.evaluator.hint(call.func, step.frame)
        for wrapper in filter(None, map(_wrapper, found)):
            for node in _given(call):
                if entry.variation.of(node, step) is True and is_kept_for_each(entry, node, step, found):
                    yield Cache(f"{dotted(call.func)}()", wrapper.node, wrapper.frame.scope, step)


def _wrapper(value: Value) -> Product | None:
    if isinstance(value, Product):
        return value if value.name == "functools.cache" else None
    if not isinstance(value, Derived) or value.via != "()" or not isinstance(value.base, Product):
        return None
    made = value.base
    return made if made.name == "functools.lru_cache" and _has_no_bound(made.node) else None
