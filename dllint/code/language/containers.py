"""Containers that the source spells out, and what is put into them afterwards."""

from __future__ import annotations

import ast

from dllint.code.language.bindings import Binding
from dllint.code.language.links import parent, scope_of
from dllint.code.language.scopes import last_name
from dllint.code.language.values import Collection

_EMPTY_MAKERS = frozenset({"dict", "list", "OrderedDict", "defaultdict"})


def filled_later(value: Collection) -> list[Binding]:
    """What is appended to a container through the name that it was first given."""
    statement = parent(value.node)
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or value.kind == "generator":
        return []
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    scope = scope_of(statement)
    return [binding for name in names for binding in scope.index().filled.get(name, ())]


def is_made_empty(node: ast.AST | None) -> bool:
    """`{}`, `OrderedDict()`, `[None] * n`, `[None for _ in paths]`."""
    if isinstance(node, ast.Dict):
        return all(map(is_made_empty, node.values))
    if isinstance(node, ast.List):
        return not node.elts
    if isinstance(node, ast.Call):
        factory = last_name(node) == "defaultdict"
        return last_name(node) in _EMPTY_MAKERS and not node.keywords and len(node.args) <= factory
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return any(isinstance(side, ast.List) and all(map(is_none, side.elts)) for side in (node.left, node.right))
    if isinstance(node, ast.ListComp):
        return is_none(node.elt)
    return isinstance(node, ast.DictComp) and is_none(node.value)


def is_none(node: ast.AST | None) -> bool:
    """Whether an expression is a plain `None`."""
    return isinstance(node, ast.Constant) and node.value is None
