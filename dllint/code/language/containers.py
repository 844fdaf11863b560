"""Containers that the source spells out, and what is put into them afterwards."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

from dllint.code.language.bindings import Binding
from dllint.code.language.links import block_of, parent, scope_of
from dllint.code.language.reaching import reaching
from dllint.code.language.scopes import Scope, dotted, last_name
from dllint.code.language.values import Collection

if TYPE_CHECKING:
    from dllint.code.program import Program

_DEEPEST = 8
"""Operators within operators in a key that is put together."""
_MANY = 20
_EMPTY_MAKERS = frozenset({"dict", "list", "OrderedDict", "defaultdict"})


def filled_later(value: Collection) -> list[Binding]:
    """What is appended to a container through the name that it was first given."""
    names = _names(value)
    scope = scope_of(value.node) if names else None
    return [binding for name in names for binding in scope.index().filled.get(name, ())] if scope is not None else []


def stored_under(value: Collection, key: str) -> list[Binding]:
    """What of that is put under a constant key."""
    names = _names(value)
    scope = scope_of(value.node) if names else None
    return [binding for name in names for binding in _under(scope, name, key)] if scope is not None else []


def _under(scope: Scope, name: str, key: str) -> list[Binding]:
    """What a scope puts under a constant key of what it calls `name`: of many, only those are asked that may be."""
    filled = scope.index().filled.get(name, [])
    if len(filled) > _MANY:
        if name not in scope.filled_by_key:
            by_key = scope.filled_by_key[name] = {}
            for number, binding in enumerate(filled):
                by_key.setdefault(_plain_key(binding), []).append(number)
        by_key = scope.filled_by_key[name]
        filled = [filled[number] for number in sorted([*by_key.get(key, ()), *by_key.get(None, ())])]
    return [binding for binding in filled if is_stored_under(binding, key)]


def _plain_key(binding: Binding) -> str | None:
    """The key of `d["key"] = value`; None where it is not as plain."""
    targets = binding.node.targets if isinstance(binding.node, ast.Assign) else ()
    key = targets[0].slice if len(targets) == 1 and isinstance(targets[0], ast.Subscript) else None
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None


def _names(value: Collection) -> list[str]:
    """The names that a container is first given."""
    statement = parent(value.node)
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or value.kind == "generator":
        return []
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def updated_by(value: Collection) -> list[tuple[ast.expr, bool]]:
    """The other dicts that a dict takes in through the name that it was first given, `options.update(others)`; each
    with whether that always happens."""
    names = _names(value)
    if not names or value.kind != "dict":
        return []
    home = block_of(value.node)
    calls = [call for call in scope_of(value.node).calls_of("update") if call.args and _holder(call) in names]
    return [(call.args[0], block_of(call) is home) for call in calls if not isinstance(call.args[0], ast.Dict)]


def _holder(call: ast.Call) -> str:
    """`options` of `options.update(...)`."""
    return dotted(call.func.value) if isinstance(call.func, ast.Attribute) else ""


def stored_elsewhere(program: Program, value: Collection, key: str) -> Iterator[tuple[Binding, Scope]]:
    """What functions and other modules store under a constant key of a module's dict: `OPTIONS["gpu"] = True`."""
    names = _names(value)
    home = scope_of(value.node) if names else None
    if home is None or home.parent is not None:
        return
    for name, quote in product(names, "\"'"):
        for module in program.modules_with(f"{name}[{quote}{key}{quote}] ="):
            for scope in module.scopes_with(name):
                if scope is not home and is_of_module(scope, name):
                    yield from ((binding, scope) for binding in _under(scope, name, key))


def is_of_module(scope: Scope, name: str) -> bool:
    """Whether a name means in a scope what the module calls so, or what it imports."""
    return all(binding.kind in ("global", "import") for binding in scope.index().bindings.get(name, ()))


def is_stored_under(binding: Binding, key: str) -> bool:
    """Whether what is put into a container is put under a constant key: `d["key"] = value`, `d.update(key=value)`, or
    under one that is made of pieces which it has, too: `d["train_{}".format(year)] = value`."""
    if isinstance(binding.node, ast.Call):
        return binding.value is not None and _passes_under(binding.node, binding.value, key)
    targets = binding.node.targets if isinstance(binding.node, ast.Assign) else ()
    return any(isinstance(target, ast.Subscript) and _is_text(target.slice, key) for target in targets)


def is_just_under(binding: Binding, key: str) -> bool:
    """Whether it is put under this very key: `d["key"] = value`, `d.update(key=value)`."""
    if not isinstance(binding.node, ast.Call):
        return _plain_key(binding) == key
    is_update = last_name(binding.node.func) == "update"
    return is_update and any(given.arg == key and given.value is binding.value for given in binding.node.keywords)


def _passes_under(call: ast.Call, value: ast.AST, key: str) -> bool:
    if last_name(call.func) == "setdefault":
        return _is_text(call.args[0], key)
    dicts = [argument for argument in call.args if isinstance(argument, ast.Dict)]
    pairs = [pair for given in dicts for pair in zip(given.keys, given.values, strict=True)]
    named = any(keyword.arg == key and keyword.value is value for keyword in call.keywords)
    return named or any(name is not None and part is value and _is_text(name, key) for name, part in pairs)


def _is_text(node: ast.AST, text: str) -> bool:
    """Whether an expression is a text, or may be, as one that is put together of pieces."""
    if isinstance(node, ast.Name):
        made = reaching(scope_of(node).index().bindings.get(node.id, []), node)
        return any(one.kind == "assign" and one.value is not None and _may_be(one.value, text) for one in made)
    return _may_be(node, text)


def _may_be(node: ast.AST, text: str) -> bool:
    if isinstance(node, ast.Constant):
        return bool(node.value == text)
    pieces, at = [piece for piece in _pieces(node) if piece], 0
    for piece in pieces:
        found = text.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return bool(pieces)


def _pieces(node: ast.AST, depth: int = 0) -> list[str]:
    """The literal pieces of a text that is put together: `f"train_{year}"`, `"train_%d" % year`, `"train_" + year`."""
    if depth > _DEEPEST:
        return []
    if isinstance(node, ast.JoinedStr):
        return [piece for part in node.values for piece in _pieces(part, depth + 1)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return [piece for whole in _pieces(node.left, depth + 1) for piece in re.split(r"%[a-z]", whole)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _pieces(node.left, depth + 1) + _pieces(node.right, depth + 1)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return [piece for whole in _pieces(node.func.value, depth + 1) for piece in re.split(r"\{[^{}]*\}", whole)]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


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
