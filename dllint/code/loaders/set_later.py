"""Options that are set on the arguments of a trainer once these are made: `args.dataloader_num_workers = 4`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dllint.code.language.arguments import Argument, Arguments
from dllint.code.language.links import block_of, parent, scope_of
from dllint.code.language.reaching import reaching
from dllint.code.language.scopes import Scope, dotted
from dllint.code.language.values import Frame

_PREFIX = "dataloader_"
_PREFETCH = f"{_PREFIX}prefetch_factor"
_SETS = "set_dataloader"
_TAKEN = frozenset({"num_workers", "pin_memory", "persistent_workers", "prefetch_factor", "drop_last"})
"""What `args.set_dataloader(...)` takes besides sizes and samplers."""


def add_arguments(call: ast.Call, frame: Frame, found: Arguments) -> None:
    """Take in what the function that makes the arguments sets on them afterwards.

    A prefetch_factor without workers is refused at once, whatever is set later.
    """
    statement = parent(call)
    names = [t.id for t in statement.targets if isinstance(t, ast.Name)] if isinstance(statement, ast.Assign) else []
    if len(names) != 1 or _PREFETCH in found.named:
        return
    for argument in _set_on(names[0], statement, frame) if statement is not None else ():
        found.add(argument)


def _set_on(name: str, made: ast.AST, frame: Frame) -> Iterator[Argument]:
    scope = scope_of(made).index()
    for write in scope.writes:
        value = write.binding.value
        is_plain = write.binding.kind == "assign" and not write.element and isinstance(value, ast.expr)
        if is_plain and write.name.startswith(_PREFIX) and _is_of(scope, write.target.value, name, made):
            assert isinstance(value, ast.expr)
            yield _argument(write.name, value, frame, write.node, made)
    for call in scope.calls_of(_SETS):
        if isinstance(call.func, ast.Attribute) and _is_of(scope, call.func.value, name, made):
            taken = (keyword for keyword in call.keywords if keyword.arg in _TAKEN)
            yield from (_argument(f"{_PREFIX}{k.arg}", k.value, frame, k, made) for k in taken)


def _argument(name: str, value: ast.expr, frame: Frame, node: ast.AST, made: ast.AST) -> Argument:
    block = block_of(node)
    certain = block.holds(block_of(made))
    return Argument(name, value, frame, node, certain, None if certain else block)


def _is_of(scope: Scope, holder: ast.expr, name: str, made: ast.AST) -> bool:
    """Whether an expression is the variable that holds what was made."""
    if not isinstance(holder, ast.Name) or dotted(holder) != name:
        return False
    return any(binding.node is made for binding in reaching(scope.bindings.get(name, []), holder))
