"""Hydra configs: a mapping with `_target_` is a call, and is read as one.

`_target_: torch.utils.data.DataLoader` with its arguments beside it becomes the Python call that Hydra will make of
it, with each argument where it stands in the YAML. All that is known of calls then holds for configs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from dllint.code.language.modules import Module
from dllint.code.language.scopes import ModuleScope
from dllint.code.language.yaml_trees import Expressions, placed, unknown
from dllint.patterns import pattern
from dllint.syntax.python import CannotParseError
from dllint.syntax.yaml import documents

_TARGET = pattern(rb"_target_[\"']?[ \t]*:[ \t]*[\"']?([\w.]+)")
_RESERVED = frozenset({"_target_", "_partial_", "_convert_", "_recursive_", "_args_", "defaults"})


class ConfigModule(Module):
    """A YAML file as a module of calls."""

    is_python = False

    keys: Mapping[ast.Call, str] = MappingProxyType({})
    """The keys that lead to each of its calls, once its scope is known: `data.train`."""

    def import_statements(self) -> Iterator[tuple[bytes, bytes]]:
        """What it calls, Hydra imports."""
        return ((b"from", target) for target in _TARGET.findall(self.data))

    @property
    def scope(self) -> ModuleScope:
        """The calls of the file; none if it cannot be parsed."""
        if self._scope is None:
            try:
                calls = {call: keys for node in documents(self.source.text) for call, keys in _calls(node)}
            except CannotParseError as error:
                self.error = error
                calls = {}
            self.keys = calls
            self._scope = ModuleScope(_module([*calls]), self, None, self.name)
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


def _calls(root: Node) -> Iterator[tuple[ast.Call, str]]:
    """The outermost calls of a document, each with the keys that lead to it."""
    pending, seen = [(root, "")], set()
    while pending:
        node, keys = pending.pop()
        if id(node) in seen:  # aliases: shared and circular nodes
            continue
        seen.add(id(node))
        if isinstance(node, SequenceNode):
            pending.extend((item, keys) for item in reversed(node.value))
        elif isinstance(node, MappingNode):
            if _target(node):
                yield _outermost(node), keys
            else:
                pending.extend((value, f"{keys}.{key.value}".strip(".")) for key, value in reversed(node.value))


def _target(node: MappingNode) -> str:
    """The dotted name that a mapping calls; an empty string if it calls nothing that can be seen."""
    for key, value in node.value:
        if isinstance(key, ScalarNode) and key.value == "_target_" and isinstance(value, ScalarNode):
            parts = value.value.split(".")
            return value.value if all(part.isidentifier() for part in parts) else ""
    return ""


def _outermost(node: MappingNode) -> ast.Call:
    """The call that a mapping stands for, with those within."""

    def call(inner: MappingNode, depth: int) -> ast.Call | None:
        return _call(inner, made, depth) if _target(inner) else None

    made = Expressions(call)
    return _call(node, made, 0)


def _call(node: MappingNode, made: Expressions, depth: int) -> ast.Call:
    keywords = []
    for key, value in node.value:
        if not isinstance(key, ScalarNode):
            continue
        if key.value not in _RESERVED:
            name = key.value if key.value.isidentifier() else None
            keyword = ast.keyword(arg=name, value=made.of(value, depth + 1))
            keywords.append(placed(keyword, key, value))
        elif key.value in ("_partial_", "_args_", "defaults"):
            keywords.append(placed(ast.keyword(arg=None, value=unknown(value)), key, value))  # what is added later
    call = ast.Call(func=_dotted(_target(node), node), args=[], keywords=keywords)
    return placed(call, node, node)


def _dotted(name: str, node: Node) -> ast.expr:
    first, *rest = name.split(".")
    found: ast.expr = placed(ast.Name(id=first, ctx=ast.Load()), node, node)
    for part in rest:
        found = placed(ast.Attribute(value=found, attr=part, ctx=ast.Load()), node, node)
    return found
