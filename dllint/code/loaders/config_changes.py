"""What a config says of a dict once it is made, or imported: `train_dataloader.update(num_workers=0)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language.links import block_of, parent
from dllint.code.language.modules import Module
from dllint.code.language.scopes import last_name
from dllint.code.language.values import Collection, Frame
from dllint.code.loaders.bases import Entry, entries

if TYPE_CHECKING:
    from dllint.code.program import Program

_UPDATES = "update"
_CHANGES = frozenset({"pop", "popitem", "clear", "setdefault", "merge", "merge_from_dict"})
_UNSEEN = ""


def changed_names(module: Module, ending: str) -> list[str]:
    """The names with this ending whose dicts the top level of a module updates."""
    updates = module.scope.calls_of(_UPDATES) if module.holds(_UPDATES.encode()) else ()
    holders = (call.func.value for call in updates if isinstance(call.func, ast.Attribute))
    found = [node.id for node in holders if isinstance(node, ast.Name) and node.id.endswith(ending)]
    return list(dict.fromkeys(found))


def changes(program: Program, module: Module, name: str) -> list[tuple[ast.AST, list[Entry]]]:
    """The statements and calls that change a dict, in order, each with what it puts there; an empty key stands for what
    cannot be seen."""
    scope, frame = module.scope, Frame(module.scope)
    found: list[tuple[ast.AST, list[Entry]]] = []
    for target in scope.subscripts:
        if isinstance(target.ctx, ast.Store) and _is_named(target.value, name):
            statement, key = parent(target), getattr(target.slice, "value", None)
            plain = isinstance(statement, ast.Assign) and isinstance(key, str)
            given = statement.value if isinstance(statement, ast.Assign) else target
            found.append((target, [(str(key) if plain else _UNSEEN, given, frame)]))
    for write in scope.writes:
        if _is_named(write.target.value, name) and isinstance(write.binding.value, ast.expr):
            key = write.name if write.binding.kind == "assign" and not write.element else _UNSEEN
            found.append((write.target, [(key, write.binding.value, frame)]))
    for call in scope.calls:
        if isinstance(call.func, ast.Attribute) and _is_named(call.func.value, name):
            if last_name(call) == _UPDATES:
                found.append((call, list(_updated(program, call, frame))))
            elif last_name(call) in _CHANGES:
                found.append((call, [(_UNSEEN, call, frame)]))
    hidden = [(node, [(_UNSEEN, item, home) for _, item, home in put]) for node, put in found if _is_optional(node)]
    certain = [(node, put) for node, put in found if not _is_optional(node)]
    return sorted([*certain, *hidden], key=lambda each: getattr(each[0], "lineno", 0))


def _is_named(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_optional(node: ast.AST) -> bool:
    owner = block_of(node).owner
    return owner is not None and not isinstance(owner, ast.With)


def _updated(program: Program, call: ast.Call, frame: Frame) -> Iterator[Entry]:
    for argument in call.args:
        for value in program.evaluator.values(argument, frame):
            if isinstance(value, Collection) and value.kind == "dict" and value.each is None:
                yield from entries(program, value)
            else:
                yield _UNSEEN, argument, frame
    for keyword in call.keywords:
        yield keyword.arg or _UNSEEN, keyword.value, frame
