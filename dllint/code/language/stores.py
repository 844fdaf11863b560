"""Statements that put values into containers, and those that take something out again."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dllint.code.language import classes
from dllint.code.language.scopes import Scope, dotted, last_name
from dllint.code.language.values import Frame
from dllint.records import dataclass

ADDING = frozenset({"append", "extend", "insert", "appendleft", "extendleft", "add"})
"""Methods that add to a container."""
_EMPTYING = frozenset({"clear", "pop", "popleft", "popitem", "remove"})
_MOST_STORES = 200


@dataclass(frozen=True, slots=True)
class Store:
    """A statement that puts a value into a container."""

    node: ast.AST
    container: ast.expr
    value: ast.expr


def stores(scope: Scope) -> Iterator[Store]:
    """The statements of a scope that put values into containers."""
    for call in scope.index().calls[:_MOST_STORES]:
        if isinstance(call.func, ast.Attribute) and call.func.attr in ADDING and call.args:
            yield Store(call, call.func.value, call.args[-1])
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "update" and _has_new_keys(call):
            yield Store(call, call.func.value, call.args[0])
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "setdefault" and _is_new(call.args[0]):
            yield Store(call, call.func.value, call.args[-1])
        elif last_name(call.func) == "heappush" and len(call.args) == 2:
            yield Store(call, call.args[0], call.args[1])
    seen: set[int] = set()
    elements = [b for found in scope.filled.values() for b in found] + [w.binding for w in scope.writes if w.element]
    for binding in elements:
        node = binding.node
        if isinstance(node, ast.Assign) and id(node) not in seen and isinstance(node.targets[0], ast.Subscript):
            seen.add(id(node))
            if not isinstance(node.targets[0].slice, ast.Constant):
                yield Store(node, node.targets[0].value, node.value)
    yield from _sums(scope)


def _has_new_keys(call: ast.Call) -> bool:
    """Whether `seen.update({key: x})` adds under a key that is not the same each time."""
    given = call.args[0] if len(call.args) == 1 else None
    return isinstance(given, ast.Dict) and any(map(_is_new, given.keys))


def _is_new(key: ast.expr | None) -> bool:
    return key is not None and not isinstance(key, ast.Constant)


def _sums(scope: Scope) -> Iterator[Store]:
    """`seen += [x]`, `seen = seen + [x]` and `seen = [*seen, x]`."""
    writes = [write.binding for write in scope.writes if not write.element]
    for binding in [b for found in scope.bindings.values() for b in found] + writes:
        yield from _sum(binding.node)


def is_sum(node: ast.AST) -> bool:
    """Whether a statement adds to a container: `seen += [x]`, `seen = seen + [x]`."""
    return any(_sum(node))


def _sum(node: ast.AST) -> Iterator[Store]:
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        yield Store(node, node.target, node.value)
    if not isinstance(node, ast.Assign) or not dotted(node.targets[0]):
        return
    text, value = dotted(node.targets[0]), node.value
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        sides = ((value.left, value.right), (value.right, value.left))
        yield from (Store(node, before, added) for before, added in sides if dotted(before) == text)
    elif isinstance(value, (ast.List, ast.Tuple)):
        whole = [part.value for part in value.elts if isinstance(part, ast.Starred) and dotted(part.value) == text]
        yield from (Store(node, whole[0], part) for part in value.elts if whole and not isinstance(part, ast.Starred))
    elif isinstance(value, ast.Dict):
        pairs = list(zip(value.keys, value.values, strict=True))
        whole = [part for key, part in pairs if key is None and dotted(part) == text]
        yield from (Store(node, whole[0], part) for key, part in pairs if whole and _is_new(key))


def is_emptied(store: Store, frame: Frame) -> bool:
    """Whether the code around takes something out of the container again, or cuts it."""
    held_by = holder(store.container)
    scopes = [frame.scope]
    owner = classes.owner_of(frame.scope)
    if isinstance(held_by, ast.Attribute) and owner is not None:
        scopes = list(owner.methods.values())
    text = dotted(held_by)
    for scope in scopes:
        for call in scope.index().calls:
            if isinstance(call.func, ast.Attribute) and call.func.attr in _EMPTYING and _names(call.func.value, text):
                return True
        if any(isinstance(part, ast.Subscript) and _names(part.value, text) for part in scope.deletes):
            return True
    return False


def _names(node: ast.expr, text: str) -> bool:
    return bool(text) and dotted(holder(node)) == text


def holder(node: ast.expr) -> ast.expr:
    """`self.seen` of `self.seen["x"]` and of `self.seen.setdefault("x", [])`."""
    while True:
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value
        else:
            return node
