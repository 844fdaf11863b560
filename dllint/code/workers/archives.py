"""What `numpy.load(path)` gives where the path does not tell: by its use, an open archive or something in memory."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language import classes
from dllint.code.language.links import parent
from dllint.code.language.scopes import ClassScope, FunctionScope
from dllint.code.language.values import Const, Product
from dllint.code.workers.state import Item

if TYPE_CHECKING:
    from dllint.code.program import Program

_OF_DICTS = frozenset({"update", "pop", "popitem", "setdefault", "clear", "copy"})
_OF_ARRAYS = frozenset({"astype", "dtype", "item", "ndim", "reshape", "shape", "sum", "tolist", "view"})
_PATHS = frozenset({"file", "filename"})


def may_be_archive(program: Program, item: Item) -> bool:
    """Whether what an attribute holds comes from `numpy.load`, and neither arguments nor use say that it is no .npz."""
    value = item.value
    if not isinstance(value, Product) or value.name != "numpy.load":
        return False
    if any(keyword.arg == "mmap_mode" for keyword in value.node.keywords) or _is_of_one_array(program, value):
        return False
    return not any(_shows_no_archive(use) for use in _uses(program, item, value))


def is_read_by_name(program: Program, item: Item) -> bool:
    """Whether a method reads what the attribute holds by a name: `self.arrays["poses"]`."""
    return any(is_under_name(node) for node in _own_reads(program, item))


def is_under_name(node: ast.AST) -> bool:
    """Whether a text is the key under which something is taken out of an expression."""
    around = parent(node)
    if not isinstance(around, ast.Subscript) or around.value is not node:
        return False
    return isinstance(around.slice, ast.Constant) and isinstance(around.slice.value, str)


def _is_of_one_array(program: Program, value: Product) -> bool:
    """Whether the path ends on .npy, as far as it is visible."""
    paths = [*value.node.args[:1], *(k.value for k in value.node.keywords if k.arg in _PATHS)]
    for node in paths:
        found = program.evaluator.values(node, value.frame)
        texts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
        texts += [known.value for known in found if isinstance(known, Const)]
        if any(isinstance(text, str) and text.endswith((".npy", ".pkl", ".pickle")) for text in texts):
            return True
    return False


def _uses(program: Program, item: Item, value: Product) -> Iterator[ast.AST]:
    """The attribute in all methods of its class, and the name that the function which opens it gives it."""
    yield from _own_reads(program, item)
    scope = value.frame.scope
    names = {name for name, bound in scope.bindings.items() if any(one.value is value.node for one in bound)}
    for node in ast.walk(scope.node) if names else ():
        if isinstance(node, ast.Name) and node.id in names:
            yield node


def _own_reads(program: Program, item: Item) -> Iterator[ast.Attribute]:
    for cls in classes.project_mro(program.evaluator, item.owner):
        yield from (node for method in cls.methods.values() for node in _attributes(method, item.attribute, cls))


def _attributes(method: FunctionScope, name: str, cls: ClassScope) -> Iterator[ast.Attribute]:
    if cls.module.lines_with(name):
        for node in method.index().attributes:
            if node.attr == name and isinstance(node.value, ast.Name) and node.value.id == method.receiver_name:
                yield node


def _shows_no_archive(node: ast.AST) -> bool:
    """Whether a use is one that an archive refuses: `del held["a"]`, `held["a"] = 1`, `held.pop("a")`, `held.shape`."""
    around = parent(node)
    if isinstance(around, ast.Subscript) and around.value is node:
        return not isinstance(around.ctx, ast.Load) or isinstance(parent(around), ast.AugAssign)
    if isinstance(around, ast.Attribute) and around.value is node:
        return around.attr in _OF_DICTS | _OF_ARRAYS
    return False
