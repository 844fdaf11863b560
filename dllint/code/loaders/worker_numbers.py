"""Numbers of workers: whether there are any, and expressions that ask for that."""

from __future__ import annotations

import ast

from dllint.code.language.scopes import dotted, last_name
from dllint.code.language.values import Number, Value, bounds


def is_some(value: Value) -> bool:
    """Whether a number of workers is at least one, on a machine with a GPU where it is counted by these."""
    span = bounds(value)
    return (span is not None and (span[0] or 0) > 0) or _counts_gpus(value)


def _counts_gpus(value: Value) -> bool:
    """Whether it is the number of GPUs, or a multiple: there are some where this trains on them."""
    node = value.node if isinstance(value, Number) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        node = node.left if isinstance(node.left, ast.Call) else node.right
    return isinstance(node, ast.Call) and last_name(node) == "device_count"


def asks_for_workers(test: ast.expr, workers: str) -> bool:
    """Whether an expression asks for workers alone: `args.workers > 0`, `bool(args.workers)`."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        zero = test.comparators[0]
        is_zero = isinstance(zero, ast.Constant) and zero.value == 0
        return is_zero and isinstance(test.ops[0], (ast.Gt, ast.NotEq)) and dotted(test.left) == workers != ""
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "bool" and test.args:
        return dotted(test.args[0]) == workers != ""
    return False
