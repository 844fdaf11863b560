"""Branches of several `if`s on one condition: a run that takes the one takes the other."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dllint.code.language.bindings import Binding
from dllint.code.language.conditions import leading_to
from dllint.code.language.links import parent
from dllint.code.language.scopes import Scope

_LASTING = (
    ast.Name,
    ast.Attribute,
    ast.Constant,
    ast.Compare,
    ast.BoolOp,
    ast.UnaryOp,
    ast.boolop,
    ast.unaryop,
    ast.cmpop,
    ast.expr_context,
)
"""What a condition consists of that is the same whenever it is asked, as long as nobody binds its names anew."""


def compatible(bindings: Sequence[Binding], use: ast.AST, scope: Scope) -> list[Binding]:
    """The bindings that a run which comes to `use` may have passed.

    Out are those under the opposite of a condition that leads to `use`; all are kept, where that would leave none.
    """
    wanted = [pair for pair in leading_to(use) if _lasts(pair[0], scope)]
    if not wanted:
        return list(bindings)
    met = {_normal(test, outcome) for test, outcome in wanted}
    kept = [b for b in bindings if not any(_normal(t, not o) in met for t, o in leading_to(b.node))]
    return kept or list(bindings)


def _normal(test: ast.expr, outcome: bool) -> tuple[str, bool]:
    """A condition without the `not`s around it."""
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, outcome = test.operand, not outcome
    return ast.dump(test), outcome


def _lasts(test: ast.expr, scope: Scope) -> bool:
    """Whether a condition has one outcome for the whole run of a scope: its names are bound once, in no loop."""
    parts = list(ast.walk(test))
    if not all(isinstance(part, _LASTING) for part in parts):
        return False
    written = {write.name for write in scope.index().writes}
    if any(isinstance(part, ast.Attribute) and part.attr in written for part in parts):
        return False
    return all(_is_bound_once(part.id, scope) for part in parts if isinstance(part, ast.Name))


def _is_bound_once(name: str, scope: Scope) -> bool:
    bindings = scope.index().bindings.get(name, [])
    return len(bindings) <= 1 and not any(_is_in_loop(binding.node, scope) for binding in bindings)


def _is_in_loop(node: ast.AST, scope: Scope) -> bool:
    at: ast.AST | None = node
    while at is not None and at is not scope.node:
        if isinstance(at, (ast.For, ast.AsyncFor, ast.While)):
            return True
        at = parent(at)
    return False
