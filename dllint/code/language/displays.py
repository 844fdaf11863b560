"""What literals, displays and comprehensions give: constants, containers, texts and functions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code.language.links import scope_of, written_in
from dllint.code.language.scopes import FunctionScope
from dllint.code.language.values import UNKNOWNS, Collection, Const, Frame, Function, Product, Values

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator

_MOST_BITS = 128
"""A longer whole number counts nothing, and Python refuses to print one of thousands of digits."""


def constant(_ev: Evaluator, node: ast.Constant, frame: Frame) -> Values:
    """A number, a text, None ..."""
    if isinstance(node.value, int) and node.value.bit_length() > _MOST_BITS:
        return UNKNOWNS
    return (Const(node.value, node, written_in(node) or frame.scope),)


def function(_ev: Evaluator, node: ast.Lambda, frame: Frame) -> Values:
    """A lambda, with the frame whose names it sees."""
    scope = scope_of(node)
    return (Function(scope, None, frame),) if isinstance(scope, FunctionScope) else UNKNOWNS


def sequence(_ev: Evaluator, node: ast.List | ast.Tuple | ast.Set, frame: Frame) -> Values:
    """A list, tuple or set, item by item."""
    return (Collection(type(node).__name__.lower(), node, frame, tuple(node.elts)),)


def mapping(_ev: Evaluator, node: ast.Dict, frame: Frame) -> Values:
    """A dict, key by key."""
    home = written_in(node)
    frame = frame if home is None else Frame(home)
    return (Collection("dict", node, frame, tuple(node.values), tuple(node.keys)),)


def comprehension(ev: Evaluator, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, frame: Frame) -> Values:
    """A list, set or generator, of which every item is alike."""
    kind = {"ListComp": "list", "SetComp": "set", "GeneratorExp": "generator"}[type(node).__name__]
    return (Collection(kind, node, frame, each=ev.infer(node.elt, frame)),)


def mapping_comprehension(ev: Evaluator, node: ast.DictComp, frame: Frame) -> Values:
    """A dict, of which every value is alike."""
    return (Collection("dict", node, frame, each=ev.infer(node.value, frame)),)


def text(_ev: Evaluator, node: ast.JoinedStr, frame: Frame) -> Values:
    """An f-string: a text whose parts are looked at where they count."""
    return (Product("str", ast.Call(func=node, args=[], keywords=[]), frame),)
