"""Containers that the source spells out, and what is put into them afterwards."""

from __future__ import annotations

import ast

from dllint.code.bindings import Binding
from dllint.code.links import parent, scope_of
from dllint.code.values import Collection


def filled_later(value: Collection) -> list[Binding]:
    """What is appended to a container through the name that it was first given."""
    statement = parent(value.node)
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or value.kind == "generator":
        return []
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    scope = scope_of(statement)
    return [binding for name in names for binding in scope.index().filled.get(name, ())]
