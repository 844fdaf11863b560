"""Tensors in values: which call made one, whether it has a storage of its own, how many a sample holds."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language.values import Collection, Derived, Frame, Product, Value, Values

if TYPE_CHECKING:
    from dllint.code.program import Program

_DEEPEST = 4
_MOST_PARTS = 40


def maker(value: Value) -> ast.AST | None:
    """The expression that makes the storage of a tensor; None if a value is not certainly a tensor."""
    if isinstance(value, Product):
        return value.node if value.name in apis.TENSOR_MAKERS and not _is_class(value) else None
    if not isinstance(value, Derived):
        return None
    made: ast.AST | None = None
    for step in value.chain():
        if made is None and step.via in apis.ALLOCATES:
            made = step.node
        elif step.via == "()" and isinstance(step.base, Product) and step.base.name in apis.TENSOR_MAKERS:
            return made or step.node
        elif step.via not in apis.TENSOR_VIEWS and step.via not in apis.ALLOCATES:
            return None
    start = maker(value.origin) if isinstance(value.origin, Product) else None
    return None if start is None else made or start


def _is_class(value: Product) -> bool:
    """Whether a call only makes a transform, which in its turn gives tensors."""
    return value.name.startswith("torchvision.") and value.name.rpartition(".")[2][:1].isupper()


def count(program: Program, values: Values) -> int:
    """How many tensors with a storage of their own a sample holds, at the least, if it is one of these values."""
    return min((_count(program, value, 0) for value in values), default=0)


def part(program: Program, values: Values, index: int | str) -> int:
    """How many of these tensors stand at one place of the sample: at an index of a tuple, under a key of a dict."""
    return min((_part(program, value, index) for value in values), default=0)


def _count(program: Program, value: Value, depth: int) -> int:
    if isinstance(value, Collection):
        return sum(_nested(program, item, value.frame, depth) for item in _items(value)) if depth < _DEEPEST else 0
    if isinstance(value, Product) and value.name in apis.GRAPHS:
        given = [*value.node.args, *(k.value for k in value.node.keywords if k.arg is not None)]
        return sum(_nested(program, item, value.frame, depth) for item in given)
    return 1 if _has_own_storage(value) else 0


def _has_own_storage(value: Value) -> bool:
    """Whether a tensor is made anew for a sample: not a view on one that the dataset keeps."""
    made = maker(value)
    if made is None:
        return False
    steps = list(value.chain()) if isinstance(value, Derived) else []
    origin = value.origin if isinstance(value, Derived) else value
    views = any(step.via in ("[]", "each") and step.node is not made for step in steps)
    return not views or (isinstance(origin, Product) and made is not origin.node)


def _items(value: Collection) -> list[ast.expr]:
    return [] if value.each is not None or value.kind == "generator" else list(value.items[:_MOST_PARTS])


def _nested(program: Program, node: ast.expr, frame: Frame, depth: int) -> int:
    if isinstance(node, ast.Attribute):  # what the dataset keeps is the same for all samples
        return 0
    found = program.evaluator.values(node, frame)
    return min((_count(program, value, depth + 1) for value in found), default=0)


def _part(program: Program, value: Value, index: int | str) -> int:
    if not isinstance(value, Collection):
        return 0
    items = _items(value)
    if isinstance(index, int):
        counts = value.kind in ("tuple", "list") and -len(items) <= index < len(items)
        return _nested(program, items[index], value.frame, 0) if counts else 0
    for key, item in zip(value.keys, items, strict=False):
        if key == index or (isinstance(key, ast.Constant) and key.value == index):
            return _nested(program, item, value.frame, 0)
    return 0
