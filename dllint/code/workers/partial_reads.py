"""Calls that read for each item only the part of a file that is its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language.links import parent
from dllint.code.language.scopes import last_name
from dllint.code.workers.reach import Step

if TYPE_CHECKING:
    from dllint.code.facts import WorkerEntry

_DEEPEST = 3


def is_partial(entry: WorkerEntry, step: Step, call: ast.Call, name: str, source: ast.expr) -> bool:
    """Whether a call reads a part: an argument says so, or says for each item something else (`key=index`)."""
    parts = apis.READS_A_PART | apis.READS_A_PART_OF.get(name, frozenset())
    if any(keyword.arg is None or keyword.arg in parts for keyword in call.keywords):
        return True
    given = (*call.args, *(keyword.value for keyword in call.keywords))
    others = [node for node in given if node is not source]
    if any(entry.variation.of(node, step) is not False for node in others):
        return True
    return name == "numpy.load" and any(_picks_array(entry, step, key) for key in _keys(step, call))


def _keys(step: Step, call: ast.Call) -> Iterator[ast.expr]:
    """What the result of a call is indexed by, at once or by the name that it gets."""
    around = parent(call)
    if isinstance(around, ast.Subscript):
        yield around.slice
    if isinstance(around, ast.Attribute) and around.attr == "get":
        user = parent(around)
        yield from user.args[:1] if isinstance(user, ast.Call) else ()
    for name, bindings in step.scope.index().bindings.items():
        if any(binding.value is call for binding in bindings):
            for node in step.scope.subscripts:
                if isinstance(node.value, ast.Name) and node.value.id == name:
                    yield node.slice


def _picks_array(entry: WorkerEntry, step: Step, key: ast.expr) -> bool:
    """Whether an item's own array is taken out of an archive, by a name: `arrays[f"frame{index}"]`."""
    if isinstance(key, (ast.Constant, ast.Slice, ast.Tuple)):
        return False
    return _is_text(step, key) or not entry.variation.is_index(key, step)


def _is_text(step: Step, node: ast.expr, depth: int = 0) -> bool:
    """Whether an expression is certainly a text."""
    if isinstance(node, ast.Name) and depth < _DEEPEST:
        bound = step.scope.index().bindings.get(node.id, ())
        values = [binding.value for binding in bound if binding.kind == "assign"]
        return any(isinstance(value, ast.expr) and _is_text(step, value, depth + 1) for value in values)
    if isinstance(node, ast.Call):
        return last_name(node) in ("str", "format", "zfill", "join")
    if isinstance(node, ast.BinOp):
        return _is_text(step, node.left, depth) or _is_text(step, node.right, depth)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
