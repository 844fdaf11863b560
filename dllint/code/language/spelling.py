"""Texts that the source puts together, as far as their parts are known."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from dllint.code.language.links import scope_of
from dllint.code.language.scopes import last_name
from dllint.code.language.values import Const, Frame
from dllint.patterns import pattern

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator

VARIABLE = "\0"
"""Stands for a part of a text that is not known."""
_DEEPEST = 6
_PERCENT = pattern(r"%(?:\(\w+\))?[-+ #0]*\d*(?:\.\d+)?[sdrifgx]")
_BRACES = pattern(r"\{[^{}]*\}")
_READS_WORDS = frozenset({"split", "quote", "str", "strip", "encode", "dedent"})
"""Last names of calls that leave the words of a text what they are."""


def spelled(ev: Evaluator, node: ast.expr, frame: Frame, depth: int = 0) -> str:
    """The text that an expression gives, with `VARIABLE` for what is not known: f-strings, `%`, `format`, `join` ..."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if depth > _DEEPEST:
        return VARIABLE
    if isinstance(node, ast.JoinedStr):
        return "".join(spelled(ev, part, frame, depth + 1) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return spelled(ev, node.value, frame, depth + 1) if node.format_spec is None else VARIABLE
    if isinstance(node, ast.BinOp):
        return _combined(ev, node, frame, depth)
    if isinstance(node, ast.Call):
        return _called(ev, node, frame, depth)
    return _of_value(ev, node, frame, depth)


def _combined(ev: Evaluator, node: ast.BinOp, frame: Frame, depth: int) -> str:
    left = spelled(ev, node.left, frame, depth + 1)
    if isinstance(node.op, ast.Add):
        return left + spelled(ev, node.right, frame, depth + 1)
    if not isinstance(node.op, ast.Mod):
        return VARIABLE
    given = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
    return _filled(_PERCENT, left, [spelled(ev, part, frame, depth + 1) for part in given])


def _filled(places: re.Pattern[str], text: str, parts: list[str]) -> str:
    """A text with its places filled in order; not known where there are as many of neither."""
    if len(places.findall(text)) != len(parts):
        return places.sub(VARIABLE, text)
    left = iter(parts)
    return places.sub(lambda _: next(left), text)


def _called(ev: Evaluator, call: ast.Call, frame: Frame, depth: int) -> str:
    function, name = call.func, last_name(call)
    if isinstance(function, ast.Attribute) and name == "format":
        text = spelled(ev, function.value, frame, depth + 1)
        is_plain = not call.keywords and _BRACES.findall(text) == ["{}"] * len(call.args)
        parts = [spelled(ev, part, frame, depth + 1) for part in call.args] if is_plain else []
        return _filled(_BRACES, text, parts)
    if isinstance(function, ast.Attribute) and name == "join" and len(call.args) == 1:
        listed = call.args[0]
        if isinstance(listed, (ast.List, ast.Tuple)):
            parts = [spelled(ev, part, frame, depth + 1) for part in listed.elts]
            return spelled(ev, function.value, frame, depth + 1).join(parts)
    if name in _READS_WORDS and len(call.args) == 1:
        return spelled(ev, call.args[0], frame, depth + 1)
    return _of_value(ev, call, frame, depth)


def _of_value(ev: Evaluator, node: ast.expr, frame: Frame, depth: int) -> str:
    """What a name or attribute holds, where that is one text each time: no element of a list, and no parameter."""
    bound = scope_of(node).index().bindings.get(node.id, []) if isinstance(node, ast.Name) else []
    if bound:
        stored = bound[0].value if len(bound) == 1 and bound[0].kind == "assign" else None
        return spelled(ev, stored, frame, depth + 1) if isinstance(stored, ast.expr) else VARIABLE
    found = ev.values(node, frame) if isinstance(node, (ast.Name, ast.Attribute)) else ()
    value = found[0] if len(found) == 1 else None
    return str(value.value) if isinstance(value, Const) else VARIABLE
