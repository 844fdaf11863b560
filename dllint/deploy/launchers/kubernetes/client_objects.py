"""Objects that Python hands to Kubernetes, as the YAML they stand for: `V1Volume(...)` of the client, and dicts."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from yaml.nodes import Node, ScalarNode, SequenceNode

from dllint.code.language.arguments import collect
from dllint.code.language.links import parent, scope_of
from dllint.code.language.modules import Module
from dllint.code.language.values import Collection, Const, Frame, Product
from dllint.deploy.launchers.kubernetes.values import UNSEEN
from dllint.deploy.made_nodes import BOOLEAN, INTEGER, NULL, mapping, marks, string
from dllint.finding import Location
from dllint.patterns import pattern
from dllint.syntax.tree import Tree

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_UNDERSCORE = pattern(r"_([a-z])")
_NAMES = {"host_ipc": "hostIPC", "host_pid": "hostPID"}
_MODEL = pattern(r"(?:\w+\.)*V\d\w+")
_GROWING = ("append", "extend", "insert", "update", "setdefault")
_DEEPEST = 30


def tree_of(node: ast.expr, frame: Frame, plan: Plan) -> Tree:
    """The object that an expression gives; what cannot be told is a placeholder in it."""
    return Tree(_Reader(plan).node(node, frame, 0))


def is_model(name: str) -> bool:
    """Whether a library's dotted name is that of an object of Kubernetes: `kubernetes.client.V1PodSpec`."""
    return _MODEL.fullmatch(name) is not None


class _Reader:
    def __init__(self, plan: Plan) -> None:
        self._evaluator = plan.program.evaluator

    def node(self, node: ast.expr, frame: Frame, depth: int) -> Node:
        """The value of an expression as a node."""
        values = self._evaluator.values(node, frame) if depth < _DEEPEST else ()
        only = values[0] if len(values) == 1 else None
        at = _location(node, frame)
        if isinstance(only, Const):
            return _constant(only.value, at)
        if isinstance(only, Product) and is_model(only.name):
            return self._of_call(only, depth)
        if isinstance(only, Collection) and only.each is None:
            return self._of_dict(only, depth) if only.kind == "dict" else self._of_list(only, depth)
        return string(UNSEEN, at)

    def _of_call(self, made: Product, depth: int) -> Node:
        given = collect(self._evaluator, made.node, made.frame)
        at = _location(made.node, made.frame)
        pairs = {}
        for name, argument in given.named.items():
            where = _location(argument.anchor, argument.frame)
            value = self.node(argument.node, argument.frame, depth + 1) if argument.certain else string(UNSEEN, where)
            pairs[_camel(name)] = (where, value)
        if given.open or given.positional or _grows(made.node):
            pairs[UNSEEN] = (at, string("", at))
        return mapping(pairs, at)

    def _of_dict(self, found: Collection, depth: int) -> Node:
        at = _location(found.node, found.frame)
        pairs = {}
        for key, value in zip(found.keys, found.items, strict=False):
            text = key.value if isinstance(key, ast.Constant) else key
            name = text if isinstance(text, str) else UNSEEN
            where = _location(key if isinstance(key, ast.expr) else value, found.frame)
            pairs[name] = (where, self.node(value, found.frame, depth + 1))
        if _grows(found.node):
            pairs[UNSEEN] = (at, string("", at))
        return mapping(pairs, at)

    def _of_list(self, found: Collection, depth: int) -> Node:
        at = _location(found.node, found.frame)
        items = [
            string(UNSEEN, at) if isinstance(item, ast.Starred) else self.node(item, found.frame, depth + 1)
            for item in found.items
        ]
        if _grows(found.node):
            items.append(string(UNSEEN, at))
        return SequenceNode("tag:yaml.org,2002:seq", items, *marks(at))


def _camel(name: str) -> str:
    """`size_limit` -> `sizeLimit`, as the client itself does; a trailing underscore keeps a keyword apart."""
    return _NAMES.get(name) or _UNDERSCORE.sub(lambda found: found[1].upper(), name.rstrip("_"))


def _constant(value: object, at: Location) -> Node:
    if value is None:
        return ScalarNode(NULL, "", *marks(at))
    if isinstance(value, bool):
        return ScalarNode(BOOLEAN, str(value).lower(), *marks(at))
    if isinstance(value, (int, float)):
        return ScalarNode(INTEGER, str(value), *marks(at))
    return string(value, at) if isinstance(value, str) else string(UNSEEN, at)


def _location(node: ast.AST, frame: Frame) -> Location:
    module: Module = frame.scope.module
    return module.location(node)


def _grows(node: ast.AST) -> bool:
    """Whether what an expression makes is given a name, and something is put into it by that name later."""
    statement = parent(node)
    if not isinstance(statement, ast.Assign) or statement.value is not node:
        return False
    names = {target.id for target in statement.targets if isinstance(target, ast.Name)}
    return bool(names) and any(_changes(each, names) for each in ast.walk(scope_of(statement).node))


def _changes(node: ast.AST, names: set[str]) -> bool:
    if isinstance(node, ast.AugAssign):
        return _root(node.target) in names
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in _GROWING and _root(node.func.value) in names
    is_written = isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store)
    return is_written and _root(node) in names


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
