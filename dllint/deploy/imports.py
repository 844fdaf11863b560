"""What a script imports of the project, by where its imports lead and not by names alone."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dllint.code.modules import Module

if TYPE_CHECKING:
    from dllint.code.program import Program


def leads_to(program: Program, script: Module, module: Module, between: Iterable[Module]) -> bool:
    """Whether a script imports a module, by way of some of the modules `between`."""
    possible = {id(other) for other in between}
    seen = {id(script)}
    pending = [script]
    while pending:
        current = pending.pop()
        if current is module:
            return True
        for imported in _imported(program, current):
            if id(imported) in possible and id(imported) not in seen:
                seen.add(id(imported))
                pending.append(imported)
    return False


def _imported(program: Program, module: Module) -> Iterator[Module]:
    """The modules of the project that a module's import statements mean, packages on their way too."""
    for node in ast.walk(module.scope.node):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            found = [program.modules.find(name, module) for name in names]
        elif isinstance(node, ast.ImportFrom):
            start = f"{node.module}." if node.module else ""
            names = [node.module or "", *(start + alias.name for alias in node.names)]
            found = [_from(program, module, node.level, name) for name in names]
        else:
            continue
        yield from (other for other in found if other is not None)


def _from(program: Program, module: Module, level: int, name: str) -> Module | None:
    return program.modules.relative(module, level, name) if level else program.modules.find(name, module)
