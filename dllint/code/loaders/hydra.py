"""Hydra configs: a mapping with `_target_` is a call, and is read as one.

`_target_: torch.utils.data.DataLoader` with its arguments beside it becomes the Python call that Hydra will make of
it, with each argument where it stands in the YAML. All that is known of calls then holds for configs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TypeVar

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from dllint.code.language.modules import Module
from dllint.code.language.scopes import ModuleScope
from dllint.syntax.python import CannotParseError
from dllint.syntax.yaml import documents

_Placed = TypeVar("_Placed", ast.Call, ast.keyword, ast.Constant, ast.Name, ast.Attribute, ast.Dict, ast.List)
_DEEPEST = 40
_TARGET = re.compile(rb"_target_[\"']?[ \t]*:[ \t]*[\"']?([\w.]+)")
_RESERVED = frozenset({"_target_", "_partial_", "_convert_", "_recursive_", "_args_", "defaults"})


class ConfigModule(Module):
    """A YAML file as a module of calls."""

    def import_statements(self) -> Iterator[tuple[bytes, bytes]]:
        """What it calls, Hydra imports."""
        return ((b"from", target) for target in _TARGET.findall(self.data))

    @property
    def scope(self) -> ModuleScope:
        """The calls of the file; none if it cannot be parsed."""
        if self._scope is None:
            try:
                calls = [call for node in documents(self.source.text) for call in _calls(node)]
            except CannotParseError as error:
                self.error = error
                calls = []
            self._scope = ModuleScope(_module(calls), self, None, self.name)
            self._scope.index()
        return self._scope


def _module(calls: list[ast.Call]) -> ast.Module:
    body: list[ast.stmt] = []
    for name in sorted({_root(call) for call in calls}):
        statement = ast.Import(names=[ast.alias(name=name)])
        statement.lineno, statement.col_offset, statement.end_lineno, statement.end_col_offset = 1, 0, 1, 0
        body.append(statement)
    body += [ast.copy_location(ast.Expr(value=call), call) for call in calls]
    return ast.Module(body=body, type_ignores=[])


def _root(call: ast.Call) -> str:
    node = call.func
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _calls(root: Node) -> Iterator[ast.Call]:
    """The outermost calls of a document."""
    pending, seen = [root], set()
    while pending:
        node = pending.pop()
        if id(node) in seen:  # aliases: shared and circular nodes
            continue
        seen.add(id(node))
        if isinstance(node, SequenceNode):
            pending.extend(reversed(node.value))
        elif isinstance(node, MappingNode):
            if _target(node):
                yield _call(node, 0)
            else:
                pending.extend(value for _, value in reversed(node.value))


def _target(node: MappingNode) -> str:
    """The dotted name that a mapping calls; an empty string if it calls nothing that can be seen."""
    for key, value in node.value:
        if isinstance(key, ScalarNode) and key.value == "_target_" and isinstance(value, ScalarNode):
            parts = value.value.split(".")
            return value.value if all(part.isidentifier() for part in parts) else ""
    return ""


def _call(node: MappingNode, depth: int) -> ast.Call:
    keywords = []
    for key, value in node.value:
        if not isinstance(key, ScalarNode):
            continue
        if key.value not in _RESERVED:
            name = key.value if key.value.isidentifier() else None
            keyword = ast.keyword(arg=name, value=_expression(value, depth + 1))
            keywords.append(_placed(keyword, key, value))
        elif key.value in ("_partial_", "_args_", "defaults"):
            keywords.append(_placed(ast.keyword(arg=None, value=_unknown(value)), key, value))  # what is added later
    call = ast.Call(func=_dotted(_target(node), node), args=[], keywords=keywords)
    return _placed(call, node, node)


def _expression(node: Node, depth: int) -> ast.expr:
    if depth > _DEEPEST:
        return _unknown(node)
    if isinstance(node, MappingNode):
        if _target(node):
            return _call(node, depth)
        pairs = [(key, value) for key, value in node.value if isinstance(key, ScalarNode)]
        keys: list[ast.expr | None] = [_placed(ast.Constant(value=key.value), key, key) for key, _ in pairs]
        return _placed(ast.Dict(keys=keys, values=[_expression(v, depth + 1) for _, v in pairs]), node, node)
    if isinstance(node, SequenceNode):
        return _placed(ast.List(elts=[_expression(item, depth + 1) for item in node.value], ctx=ast.Load()), node, node)
    return _scalar(node)


def _scalar(node: Node) -> ast.expr:
    text = str(node.value)
    if "${" in text or text == "???":
        return _unknown(node)
    kind = node.tag.rpartition(":")[2]
    value: str | int | float | bool | None = text
    try:
        if kind == "int":
            value = int(text.replace("_", ""), 0)
        elif kind == "float":
            value = float(text.replace("_", ""))
    except ValueError:
        return _unknown(node)
    if kind == "bool":
        value = text.lower() in ("true", "yes", "on")
    elif kind == "null":
        value = None
    return _placed(ast.Constant(value=value), node, node)


def _unknown(node: Node) -> ast.expr:
    return _placed(ast.Name(id="_interpolated_", ctx=ast.Load()), node, node)


def _dotted(name: str, node: Node) -> ast.expr:
    first, *rest = name.split(".")
    found: ast.expr = _placed(ast.Name(id=first, ctx=ast.Load()), node, node)
    for part in rest:
        found = _placed(ast.Attribute(value=found, attr=part, ctx=ast.Load()), node, node)
    return found


def _placed(made: _Placed, start: Node, end: Node) -> _Placed:
    """Give a node of the tree the place of the YAML that it stands for."""
    first, last = start.start_mark, end.end_mark
    made.lineno, made.col_offset = first.line + 1, first.column
    made.end_lineno, made.end_col_offset = last.line + 1, last.column
    return made
