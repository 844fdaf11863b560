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


def _sums(scope: Scope) -> Iterator[Store]:
    """`seen += [x]` and `seen = seen + [x]`."""
    writes = [write.binding for write in scope.writes if not write.element]
    for binding in [b for found in scope.bindings.values() for b in found] + writes:
        node = binding.node
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            yield Store(node, node.target, node.value)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.Add):
            target = node.targets[0]
            if dotted(target) and dotted(target) == dotted(node.value.left):
                yield Store(node, node.value.left, node.value.right)


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
