"""Nodes of YAML as expressions of Python, each with the place where it stands."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

_Placed = TypeVar("_Placed", ast.Call, ast.keyword, ast.Constant, ast.Name, ast.Attribute, ast.Dict, ast.List)
_DEEPEST = 40
_MOST_NODES = 20_000
"""Nodes of one document that are looked at: aliases of aliases stand for more than anybody would write."""


class Expressions:
    """Makes expressions of nodes. `call` says what a mapping is that stands for a call; None for any other mapping."""

    def __init__(self, call: Callable[[MappingNode, int], ast.expr | None] = lambda node, depth: None) -> None:
        self._call = call
        self._left = _MOST_NODES

    def of(self, node: Node, depth: int = 0) -> ast.expr:
        """The expression that a node stands for: a dict, a list, a constant, or a name that nothing is known of."""
        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            return unknown(node)
        if isinstance(node, MappingNode):
            return self._call(node, depth) or self._dict(node, depth)
        if isinstance(node, SequenceNode):
            return placed(ast.List(elts=[self.of(item, depth + 1) for item in node.value], ctx=ast.Load()), node, node)
        return _scalar(node)

    def _dict(self, node: MappingNode, depth: int) -> ast.expr:
        pairs = [(key, value) for key, value in node.value if isinstance(key, ScalarNode)]
        keys = [None if key.value == "<<" else placed(ast.Constant(value=key.value), key, key) for key, _ in pairs]
        return placed(ast.Dict(keys=[*keys], values=[self.of(v, depth + 1) for _, v in pairs]), node, node)


def _scalar(node: Node) -> ast.expr:
    text = str(node.value)
    if "${" in text:
        return placed(ast.Name(id=text, ctx=ast.Load()), node, node)  # as it is written, for who can look it up
    if text == "???":
        return unknown(node)
    kind = node.tag.rpartition(":")[2]
    value: str | int | float | bool | None = text
    try:
        if kind == "int":
            value = int(text.replace("_", ""), 0)
        elif kind == "float":
            value = float(text.replace("_", ""))
    except ValueError:
        return unknown(node)
    if kind == "bool":
        value = text.lower() in ("true", "yes", "on")
    elif kind == "null":
        value = None
    return placed(ast.Constant(value=value), node, node)


def unknown(node: Node) -> ast.expr:
    """A name that nothing is known of, at the place of a node."""
    return placed(ast.Name(id="_interpolated_", ctx=ast.Load()), node, node)


def placed(made: _Placed, start: Node, end: Node) -> _Placed:
    """Give a node of the tree the place of the YAML that it stands for."""
    first, last = start.start_mark, end.end_mark
    made.lineno, made.col_offset = first.line + 1, first.column
    made.end_lineno, made.end_col_offset = last.line + 1, last.column
    return made
