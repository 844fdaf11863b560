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


def is_stored_under(binding: Binding, key: str) -> bool:
    """Whether what is put into a container is put under a constant key: `d["key"] = value`, `d.update(key=value)`."""
    if isinstance(binding.node, ast.Call):
        return binding.value is not None and _passes_under(binding.node, binding.value, key)
    targets = binding.node.targets if isinstance(binding.node, ast.Assign) else ()
    return any(isinstance(target, ast.Subscript) and _is_text(target.slice, key) for target in targets)


def _passes_under(call: ast.Call, value: ast.AST, key: str) -> bool:
    if last_name(call.func) == "setdefault":
        return _is_text(call.args[0], key)
    dicts = [argument for argument in call.args if isinstance(argument, ast.Dict)]
    pairs = [pair for given in dicts for pair in zip(given.keys, given.values, strict=True)]
    named = any(keyword.arg == key and keyword.value is value for keyword in call.keywords)
    return named or any(name is not None and part is value and _is_text(name, key) for name, part in pairs)


def _is_text(node: ast.AST, text: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == text


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
