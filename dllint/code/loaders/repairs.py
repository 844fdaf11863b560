"""Fixes for the arguments of a loader. There is one only where the argument stands in the very call that builds it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code.language.conditions import mentions
from dllint.code.language.scopes import dotted
from dllint.code.language.values import Instance, Product, Value
from dllint.code.loaders.loader import Loader
from dllint.finding import Edit, Fix

if TYPE_CHECKING:
    from dllint.code.loaders.edits import CallEditor

_NEEDS_NO_PARENTHESES = (ast.Attribute, ast.BinOp, ast.Call, ast.Constant, ast.Name, ast.Subscript)


def only_with_workers(loader: Loader, name: str, otherwise: str = "") -> Fix | None:
    """Pass `name` only with workers, else `otherwise`; without `otherwise` it is a switch. Removed if there are none.

    Safe: with workers it is what it was, and without them the program would have been refused.
    """
    keyword = _own_keyword(loader, name)
    if keyword is None:
        return None
    if _never_has_workers(loader):
        return removal(loader, name, safe=True)
    workers = _workers_expression(loader)
    if not workers or mentions(keyword.value, workers):
        return None
    edit = _decided_by(workers, loader, keyword.value, otherwise)
    return Fix(f"Decide {keyword.arg} by the number of workers", (edit,), safe=True)


def removal(loader: Loader, name: str, *, safe: bool) -> Fix | None:
    """Take out an argument. Whoever loses a comment by that has to ask for it: such a fix is not safe."""
    keyword = _own_keyword(loader, name)
    if keyword is None:
        return None
    edit, loses_comment = _editor(loader).remove(keyword)
    return Fix(f"Remove {keyword.arg}", (edit,), safe=safe and not loses_comment)


def is_literally(loader: Loader, name: str, wanted: bool) -> bool:
    """Whether the call itself says `name=True`, or `name=False`."""
    keyword = _own_keyword(loader, name)
    return keyword is not None and isinstance(keyword.value, ast.Constant) and keyword.value.value is wanted


def is_made_in_the_call(loader: Loader, name: str) -> bool:
    """Whether the call itself constructs the object that it passes as `name`, so that it is never None."""
    keyword = _own_keyword(loader, name)
    if keyword is None or not isinstance(keyword.value, ast.Call):
        return False
    return all(map(_is_constructed, loader.option(name).values))


def _is_constructed(value: Value) -> bool:
    """Whether a class gives it. A function of a library may give None; only classes have a capital letter."""
    if isinstance(value, Product):
        return value.name.rpartition(".")[2][:1].isupper()
    return isinstance(value, Instance)


def _own_keyword(loader: Loader, name: str) -> ast.keyword | None:
    """The keyword argument `name`, if it is written in the Python call that builds the loader."""
    argument = loader.arguments.get(name)
    if argument is None or not _builds_at_once(loader) or not isinstance(argument.anchor, ast.keyword):
        return None
    return argument.anchor if _is_part_of(loader.call, argument.anchor) else None


def _builds_at_once(loader: Loader) -> bool:
    """Whether the call is refused itself; a config or a trainer's arguments may still be changed by others."""
    return "dataset" in loader.api.positional and not loader.path.endswith((".yaml", ".yml"))


def _is_part_of(call: ast.AST, node: ast.AST) -> bool:
    return isinstance(call, ast.Call) and (node in call.keywords or node in call.args)


def _never_has_workers(loader: Loader) -> bool:
    """Whether the call says so itself: by a literal 0, or by leaving num_workers out."""
    argument = loader.arguments.get("num_workers")
    if argument is not None:
        value = argument.node.value if isinstance(argument.node, ast.Constant) else None
        return type(value) is int and value == 0 and _is_part_of(loader.call, argument.anchor)
    return loader.workers.absent is True and not _has_splat(loader.call)


def _has_splat(call: ast.AST) -> bool:
    """Whether other ways to this call may pass more."""
    if not isinstance(call, ast.Call):
        return True
    return any(k.arg is None for k in call.keywords) or any(isinstance(a, ast.Starred) for a in call.args)


def _workers_expression(loader: Loader) -> str:
    """`args.workers` of `num_workers=args.workers` in the same call; empty for anything that is not a plain name."""
    argument = loader.arguments.get("num_workers")
    if argument is None or not _is_part_of(loader.call, argument.anchor):
        return ""
    return dotted(argument.node)


def _decided_by(workers: str, loader: Loader, value: ast.expr, otherwise: str) -> Edit:
    editor = _editor(loader)
    text = editor.text_of(value)
    if not isinstance(value, _NEEDS_NO_PARENTHESES):
        text = f"({text})"
    if otherwise:
        return editor.replace(value, f"{text} if {workers} > 0 else {otherwise}")
    return editor.replace(value, f"{workers} > 0" if text == "True" else f"{text} and {workers} > 0")


def _editor(loader: Loader) -> CallEditor:
    from dllint.code.loaders.edits import CallEditor

    assert isinstance(loader.call, ast.Call)
    return CallEditor(loader.module, loader.call)
