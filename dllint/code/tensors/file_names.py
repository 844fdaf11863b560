"""The names of files as the source writes them, with holes for what is not known: what saves and what loads one."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from dllint.code.language.reaching import reaching
from dllint.code.language.scopes import last_name
from dllint.code.language.values import Const, Derived, Frame, Product
from dllint.patterns import pattern

if TYPE_CHECKING:
    from dllint.code.program import Program

_HOLE = "\0"
"""Stands for what is not known of a file's name."""
_DEEPEST = 5
_PATH = pattern(r"_*(\w+)_(?:path|file|filename)")
_SHORTEST_STEM = 6
"""Letters that tell one kind of file from another."""
_JOINS = frozenset({"join", "joinpath", "str", "Path", "fspath"})
_OPENERS = frozenset({"open", "open_file"})


def forms(program: Program, node: ast.expr, frame: Frame) -> tuple[str, str]:
    """The name of a file without its folder, and with the last one; each with holes."""
    text = _text(program, node, frame, 0)
    while _HOLE * 2 in text:
        text = text.replace(_HOLE * 2, _HOLE)
    parts = text.split("/")
    return parts[-1], "/".join(parts[-2:])


def stem(program: Program, path: ast.expr, frame: Frame) -> str:
    """What a variable or an option for a path says that the file is called: `latent_gt` of `latent_gt_path`."""
    words = [last_name(path)] if isinstance(path, (ast.Name, ast.Attribute)) else []
    values = program.evaluator.values(path, frame)
    words += [v.index for v in values if isinstance(v, Derived) and isinstance(v.index, str)]
    stems = (found[1] for word in words if (found := _PATH.fullmatch(word)) is not None)
    return next((stem for stem in stems if len(stem) >= _SHORTEST_STEM and "_" in stem), "")


def are_of_one_file(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether two forms tell enough to say that they name the same files: `pitch_?.pt`, or `masks/?.pt`."""
    if _is_telling(one[0]):
        return one[0] == other[0]
    folder, slash, _ = one[1].partition("/")
    return one[1] == other[1] and bool(slash) and any(letter.isalpha() for letter in folder)


def _is_telling(name: str) -> bool:
    """Whether a name says more than its suffix: `pitch_?.pt`, `?.soft.pt`, `cached_?`."""
    return any(letter.isalpha() for letter in name.rpartition(".")[0] or name)


def _text(program: Program, node: ast.expr, frame: Frame, depth: int) -> str:
    if depth > _DEEPEST:
        return _HOLE
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else _HOLE for part in node.values)
    if isinstance(node, ast.BinOp):
        return _joined(program, node, frame, depth)
    if isinstance(node, ast.Call):
        return _called(program, node, frame, depth)
    given = _assigned(node, frame)
    return _text(program, given, frame, depth + 1) if given is not None else _known(program, node, frame, depth)


def _joined(program: Program, node: ast.BinOp, frame: Frame, depth: int) -> str:
    if isinstance(node.op, ast.Add):
        sides = (node.left, node.right)
        return "".join(_text(program, side, frame, depth + 1) for side in sides)
    if isinstance(node.op, ast.Div):
        return f"{_text(program, node.left, frame, depth + 1)}/{_text(program, node.right, frame, depth + 1)}"
    if isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
        return re.sub(r"%[-+ 0#]*\d*(?:\.\d+)?[a-zA-Z]", _HOLE, str(node.left.value))
    return _HOLE


def _called(program: Program, call: ast.Call, frame: Frame, depth: int) -> str:
    name = last_name(call)
    if call.args and name in _JOINS:
        return "/".join(_text(program, part, frame, depth + 1) for part in call.args[-2:])
    if call.args and name in _OPENERS:
        return _text(program, call.args[0], frame, depth + 1)
    if name == "format" and isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Constant):
        return re.sub(r"\{[^{}]*\}", _HOLE, str(call.func.value.value))
    return _known(program, call, frame, depth)


def _known(program: Program, node: ast.expr, frame: Frame, depth: int) -> str:
    """The one text that a constant of a module, an attribute or a helper's result is known to be."""
    found = program.evaluator.values(node, frame)
    value = found[0] if len(found) == 1 else None
    if isinstance(value, Const) and isinstance(value.value, str):
        return value.value
    if isinstance(value, Product) and value.node is not node:
        made = value.node.func if value.name == "str" else value.node
        return _text(program, made, value.frame, depth + 1)
    return _HOLE


def _assigned(node: ast.expr, frame: Frame) -> ast.expr | None:
    """What a variable holds, where one assignment, or one `with open(...)`, alone reaches its use."""
    bindings = frame.scope.index().bindings.get(node.id, ()) if isinstance(node, ast.Name) else ()
    found = reaching(list(bindings), node) if bindings else []
    value = found[0].value if len(found) == 1 and found[0].kind in ("assign", "with") else None
    return value if isinstance(value, ast.expr) else None
