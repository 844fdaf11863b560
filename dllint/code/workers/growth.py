"""Containers that worker code fills with something for each item, and lets go of nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language import classes, conditions
from dllint.code.language.containers import is_made_empty, is_none
from dllint.code.language.links import parent
from dllint.code.language.scopes import ModuleScope, Scope, dotted, last_name
from dllint.code.language.values import ClassRef, Frame, Instance
from dllint.code.workers import asked_for, making, memos
from dllint.code.workers.keys import is_kept_for_each
from dllint.code.workers.memos import Cache
from dllint.code.workers.reach import Step, is_main_only

if TYPE_CHECKING:
    from dllint.code.facts import WorkerEntry
    from dllint.code.program import Program

_EVICTS = frozenset({"pop", "popitem", "popleft", "clear", "evict", "expire"})
_FEW_WORDS = ("len(", "mem", "max", "limit", "capacity", "budget", "size", "full", "room", "psutil")
"""Parts of a test that keeps a cache small."""
_SMALL_CALLS = frozenset({"len", "int", "float", "str", "bool", "hash", "range", "slice"})


def caches(entry: WorkerEntry) -> Iterator[Cache]:
    """The caches without an end that one worker code fills."""
    for step in entry.code.steps:
        yield from _containers(entry, step)
        yield from memos.of_step(entry, step)


def _containers(entry: WorkerEntry, step: Step) -> Iterator[Cache]:
    for container, keys, node, stored in _stores(step.scope):
        if not _varies(entry, keys, stored, step) or not _starts_empty(entry.program, container, step):
            continue
        name = dotted(container)
        if not _is_bounded(entry, step, node, container) and not _is_evicted(entry, step, container):
            yield Cache(name, node, step.scope, step)


def _stores(scope: Scope) -> Iterator[tuple[ast.expr, list[ast.expr], ast.AST, ast.expr | None]]:
    """What `x[key] = value` and `x.setdefault(key, value)` fill: container, keys, statement and value."""
    for subscript in scope.index().subscripts:
        around = parent(subscript)
        if isinstance(subscript.ctx, ast.Store) and isinstance(around, (ast.Assign, ast.AnnAssign)):
            container, keys = _innermost(subscript)
            yield container, keys, around, around.value
    for call in scope.calls:
        if not isinstance(call.func, ast.Attribute):
            continue
        if call.func.attr == "setdefault" and len(call.args) == 2:
            yield call.func.value, [call.args[0]], call, call.args[1]
        elif call.func.attr == "update" and len(call.args) == 1 and isinstance(call.args[0], ast.Dict):
            given = zip(call.args[0].keys, call.args[0].values, strict=True)
            yield from ((call.func.value, [key], call, value) for key, value in given if key is not None)


def _innermost(node: ast.Subscript) -> tuple[ast.expr, list[ast.expr]]:
    """Of `self.cache["image"][i]`: `self.cache`, and its keys."""
    keys = [node.slice]
    while isinstance(node.value, ast.Subscript):
        node = node.value
        keys.append(node.slice)
    return node.value, keys


def _varies(entry: WorkerEntry, keys: list[ast.expr], stored: ast.expr | None, step: Step) -> bool:
    """Whether something that is no trifle is stored under a key of its own for each item."""
    if stored is None or isinstance(stored, ast.Constant) or last_name(stored) in _SMALL_CALLS:
        return False
    if not any(entry.variation.of(key, step) is True for key in keys):
        return False
    values = entry.program.evaluator.values(stored, step.frame)
    return any(is_kept_for_each(entry, key, step, values) for key in keys)


def _starts_empty(program: Program, container: ast.expr, step: Step) -> bool:
    """Whether a container is one of the object, the class or the module, and is empty when it is made."""
    if isinstance(container, ast.Attribute):
        made = list(_attribute_values(program, container, step))
    elif isinstance(container, ast.Name):
        made = list(_global_values(container.id, step.scope))
    else:
        return False
    made = [node for node in made if not is_none(node)]
    return bool(made) and all(map(is_made_empty, made))


def _attribute_values(program: Program, container: ast.Attribute, step: Step) -> Iterator[ast.AST | None]:
    """What is stored under an attribute as a whole: by the methods of its object, and in the body of the class."""
    ev = program.evaluator
    for holder in ev.values(container.value, step.frame):
        if not isinstance(holder, (Instance, ClassRef)):
            continue
        for base in classes.project_mro(ev, holder.cls):
            yield from (binding.value for binding in base.index().bindings.get(container.attr, ()))
        held = making.kept(program, holder).get(container.attr, ()) if isinstance(holder, Instance) else ()
        stands = {id(one.write) for one in held}
        for write, frame in classes.writes(ev, holder, container.attr):
            is_replaced = bool(stands) and frame.scope.name == "__init__" and id(write) not in stands
            if not write.element and not is_replaced:
                yield write.binding.value


def _global_values(name: str, scope: Scope) -> Iterator[ast.AST | None]:
    own = scope.index().bindings.get(name)
    top = scope.module.scope
    if (own is None or own[0].kind == "global") and isinstance(top, ModuleScope):
        yield from (binding.value for binding in top.bindings.get(name, ()))


def _is_bounded(entry: WorkerEntry, step: Step, node: ast.AST, container: ast.expr) -> bool:
    """Whether a condition on the way keeps the cache small, or asks for it by an option that is off."""
    if is_main_only(entry.program, node, step.frame):
        return True
    for at, place in step.hops(node):
        for test, outcome in conditions.leading_to(place):
            if _limits(entry.program, test, outcome, at.frame, dotted(container)):
                return True
    return False


def _limits(program: Program, test: ast.expr, outcome: bool, frame: Frame, container: str) -> bool:
    text = ast.unparse(test)
    if conditions.mentions(test, container):  # whether it holds the item already, or how much it holds
        return f"len({container}" in text
    return any(word in text.lower() for word in _FEW_WORDS) or asked_for.is_off(program, test, outcome, frame)


def _is_evicted(entry: WorkerEntry, step: Step, container: ast.expr) -> bool:
    """Whether worker code, or the object itself, takes things out of the container again, or makes it anew."""
    name = last_name(container)
    scopes = [other.scope for other in entry.code.steps]
    if step.scope.owner is not None:
        scopes += step.scope.owner.methods.values()
    return any(_lets_go(scope.index(), name) for scope in scopes)


def _lets_go(scope: Scope, name: str) -> bool:
    for call in scope.calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr in _EVICTS and last_name(call.func.value) == name:
            return True
    if any(isinstance(node, ast.Subscript) and last_name(node.value) == name for node in scope.deletes):
        return True
    return scope.name != "__init__" and any(
        write.name == name and not write.element and not _is_made_late(write.node) for write in scope.writes
    )


def _is_made_late(node: ast.AST) -> bool:
    """Whether a statement runs only where there is nothing yet: `if self.cache is None:`."""
    tests = [ast.unparse(test) for test, _ in conditions.leading_to(node)]
    return any("None" in test or "hasattr" in test or test.startswith("not ") for test in tests)
