"""Rows of an HDF5 data set that a dataset keeps one by one: `self.images = list(file["images"])`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code.language.values import Derived, Number, Product
from dllint.code.workers.beside import is_small_by_name
from dllint.code.workers.eager import Read, is_whole
from dllint.code.workers.state import Item

if TYPE_CHECKING:
    from dllint.code.program import Program

_FILE = "h5py.File"
_OPENS = frozenset({"[]", "with"})
_SMALL = frozenset(
    (
        *("affine", "caption", "gt", "origin", "ratio", "resolution", "score", "sentence", "spacing", "subject"),
        *("target", "text", "token", "y", "zoom"),
    )
)
"""Words by which authors name what is small beside a sample, and no word of `beside`."""
_CONTAINERS = frozenset({"array", "data", "dataset", "list"})
"""Last words of names that say nothing of what is in there."""


def read_of(program: Program, item: Item) -> Read | None:
    """The opening of a file whose rows a list on the dataset holds. Whether these are samples, or the names in a group
    of the file, is told by what workers do with them."""
    value = item.value
    if not item.path.endswith("[]") or not isinstance(value, Derived) or not _is_row(program, value):
        return None
    names = [item.attribute, *_keys(value)]
    if any(map(_is_small, names)):
        return None
    origin = value.origin
    return Read(_FILE, origin.node, origin.frame, parsed=True) if isinstance(origin, Product) else None


def _is_small(name: str) -> bool:
    """Whether a name says so, as `label_list` and `zoom_dataset` do."""
    words = name.lower().split("_")
    while len(words) > 1 and words[-1] in _CONTAINERS:
        words.pop()
    return is_small_by_name("_".join(words)) or words[-1].removesuffix("s") in _SMALL


def _is_row(program: Program, value: Derived) -> bool:
    """Whether a value is an element of what stands in a file under a key."""
    origin = value.origin
    row, *rest = value.chain()
    if not isinstance(origin, Product) or origin.name != _FILE or not any(step.via == "[]" for step in rest):
        return False
    if not all(step.via in _OPENS for step in rest):
        return False
    return row.via == "each" or _is_numbered(program, row) or _is_read_by_key(program, row, rest)


def _is_numbered(program: Program, row: Derived) -> bool:
    """`file["images"][i]`, by the number that a loop counts."""
    key = row.node.slice if row.via == "[]" and isinstance(row.node, ast.Subscript) else None
    return isinstance(key, ast.Name) and all(isinstance(v, Number) for v in program.evaluator.values(key, row.frame))


def _is_read_by_key(program: Program, row: Derived, rest: list[Derived]) -> bool:
    """`file[name][:]`, for each name in the file."""
    keys = [step.node.slice for step in rest if step.via == "[]" and isinstance(step.node, ast.Subscript)]
    if row.via != "[]" or not is_whole(row.node):
        return False
    found = [value for key in keys for value in program.evaluator.values(key, row.frame)]
    return any(isinstance(v, Derived) and v.via == "each" and _is_of_file(v) for v in found)


def _is_of_file(value: Derived) -> bool:
    return isinstance(value.origin, Product) and value.origin.name == _FILE


def _keys(value: Derived) -> list[str]:
    keys = [step.node.slice for step in value.chain() if isinstance(step.node, ast.Subscript)]
    return [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
