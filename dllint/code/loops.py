"""Loops around a node, and whether they pass a handful of items only."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code.links import parent
from dllint.code.values import (
    Collection,
    Const,
    Derived,
    Frame,
    Product,
)

if TYPE_CHECKING:
    from dllint.code.program import Program


def loop_around(node: ast.AST) -> ast.AST | None:
    """The loop or comprehension that a node stands in, within its function."""
    at = parent(node)
    while at is not None and not isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module)):
        if isinstance(at, (ast.For, ast.While, ast.ListComp, ast.DictComp, ast.SetComp)):
            return at
        at = parent(at)
    return None


def loops_over_few(program: Program, loop: ast.AST, frame: Frame) -> bool:
    """Whether a loop passes a handful of spelled-out items only: not one for each sample."""
    iterated = loop.iter if isinstance(loop, ast.For) else _comprehended(loop)
    if iterated is None:
        return False
    for value in program.evaluator.values(iterated, frame):
        origin = (
            value.base if isinstance(value, Derived) and value.via in (".items()", ".keys()", ".values()") else value
        )
        if isinstance(origin, Collection) and origin.each is None and len(origin.items) < 16:
            return True
        if isinstance(origin, Product) and origin.name == "builtins.range" and origin.node.args:
            counts = [
                v.value for v in program.evaluator.values(origin.node.args[-1], origin.frame) if isinstance(v, Const)
            ]
            if counts and all(isinstance(c, int) and c < 16 for c in counts):
                return True
    return False


def _comprehended(loop: ast.AST) -> ast.expr | None:
    generators = getattr(loop, "generators", None)
    return generators[0].iter if generators else None
