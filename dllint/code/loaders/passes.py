"""How often a loader is passed over, as far as its own function and the callers of that show."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language import iterators, loops
from dllint.code.language.links import parent, scope_of
from dllint.code.language.scopes import FunctionScope, last_name
from dllint.code.language.values import Value
from dllint.code.loaders.loader import Loader

if TYPE_CHECKING:
    from dllint.code.program import Program

_ITERATES = frozenset(name.rpartition(".")[2] for name in apis.ITERATES)


def uses_up(program: Program, loader: Loader, iterator: Value) -> bool:
    """Whether a loader over an iterator may be passed a second time, when the iterator is used up."""
    made = iterators.creation(iterator)
    if made is not None and scope_of(made) is scope_of(loader.call):
        again = list(loops.around(loader.call))
        if any(loop not in list(loops.around(made)) for loop in again):
            return True
    return not _is_passed_once(program, loader.construction)


def _is_passed_once(program: Program, call: ast.AST, depth: int = 0) -> bool:
    """Whether what a call gives is looped over on the spot, or by one loop that stands beside it."""
    at = _outermost(call)
    around = parent(at)
    if _is_source(at):
        return True
    if isinstance(around, ast.Return) and depth < 1:
        scope = scope_of(around)
        calls = program.call_sites(scope) if isinstance(scope, FunctionScope) else []
        return bool(calls) and all(_is_passed_once(program, made, depth + 1) for made, _ in calls)
    if isinstance(around, ast.Assign) and len(around.targets) == 1 and isinstance(around.targets[0], ast.Name):
        return _is_name_passed_once(around, around.targets[0].id)
    return False


def _outermost(node: ast.AST) -> ast.AST:
    """The expression around a loader that only passes its batches on: `enumerate(tqdm(loader))`."""
    around = parent(node)
    while isinstance(around, ast.Call) and node in around.args and last_name(around) in _ITERATES:
        node, around = around, parent(around)
    return node


def _is_source(node: ast.AST) -> bool:
    """Whether a loop takes its items from the node."""
    around = parent(node)
    if isinstance(around, ast.comprehension):
        return around.iter is node
    if isinstance(around, (ast.For, ast.AsyncFor)):
        return around.iter is node
    return isinstance(node, ast.Call) and last_name(node) in ("list", "tuple", "next", "sum")


def _is_name_passed_once(bound: ast.Assign, name: str) -> bool:
    scope = scope_of(bound)
    uses = [n for n in ast.walk(scope.node) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
    uses = [use for use in uses if not _is_counted(use)]
    if len(uses) != 1 or scope_of(uses[0]) is not scope:
        return False
    at = _outermost(uses[0])
    return _is_source(at) and list(loops.around(at)) == list(loops.around(bound))


def _is_counted(use: ast.Name) -> bool:
    """`len(loader)` passes nothing."""
    around = parent(use)
    return isinstance(around, ast.Call) and last_name(around) == "len"
