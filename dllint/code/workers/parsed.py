"""Objects out of pickles: samples where workers make arrays of them or return them, else records about samples."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language.links import parent, scope_of
from dllint.code.language.scopes import last_name
from dllint.code.workers.state import Item

if TYPE_CHECKING:
    from dllint.code.workers.datasets import Dataset

_ARRAYS = frozenset({"array", "asarray", "as_tensor", "from_numpy", "stack", "tensor", "FloatTensor", "Tensor"})
_COUNTS = frozenset({"int", "float", "len", "str", "bool", "max", "min", "sum"})
_DEEPEST = 3


def are_samples(dataset: Dataset, item: Item) -> bool:
    """Whether workers give back what an attribute has for each file, or make arrays of it, and read no other files."""
    if any(True for _ in dataset.worker.library_calls(apis.DECODES)):
        return False
    reads = [node for _, node in dataset.worker.reads(item.owner, item.attribute)]
    return any(_is_entry(node) and _is_given(parent(node), 0) for node in reads)


def _is_entry(node: ast.AST) -> bool:
    around = parent(node)
    return around is not None and _is_taken_from(around, node)


def _is_taken_from(around: ast.AST, node: ast.AST) -> bool:
    return isinstance(around, ast.Subscript) and around.value is node


def _is_given(node: ast.AST | None, depth: int) -> bool:
    """Whether a value becomes an array, or goes into what the function returns."""
    at, around = node, parent(node) if node is not None else None
    while around is not None and at is not None:
        if isinstance(around, (ast.Return, ast.Yield)):
            return True
        if isinstance(around, ast.Assign):
            return depth < _DEEPEST and any(_is_given(use, depth + 1) for use in _uses(around))
        if isinstance(around, ast.Call):
            if around.func is at or last_name(around) in _COUNTS:
                return False
            if last_name(around) in _ARRAYS:
                return True
        elif not isinstance(around, (ast.Tuple, ast.List, ast.Dict, ast.keyword)) and not _is_taken_from(around, at):
            return False
        at, around = around, parent(around)
    return False


def _uses(statement: ast.Assign) -> list[ast.Name]:
    """The reads of the one variable that a statement assigns, from there on."""
    names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
    found = [node for node in ast.walk(scope_of(statement).node) if isinstance(node, ast.Name)]
    return [n for n in found if n.id in names and isinstance(n.ctx, ast.Load) and n.lineno > statement.lineno]
