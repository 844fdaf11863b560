"""How worker code reads a container: whether it picks one element for each sample, or is just handed the whole."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language.links import parent
from dllint.code.language.parameters import passed
from dllint.code.language.values import Collection, Derived, Function, Product, Unknown, Value
from dllint.code.workers.reach import Step
from dllint.code.workers.variation import Variation

if TYPE_CHECKING:
    from dllint.code.program import Program
    from dllint.code.workers.datasets import Dataset
    from dllint.code.workers.state import Item

_LOOKS_INTO = ("get", "index", "items", "values", "keys")


def read_of(dataset: Dataset, item: Item) -> tuple[Step, ast.Attribute] | None:
    """The read by which worker code picks an element of what an attribute holds."""
    reads = list(dataset.worker.reads(item.owner, item.attribute))
    if not _may_be_anything(item.value):
        found = list(indexed(reads))
        return None if not found or _holds_containers(item.value, found) else found[0]
    variation = Variation(dataset.program, dataset.worker)
    return next((read for read in reads if _picks(dataset.program, variation, *read)), None)


def indexed(reads: Iterable[tuple[Step, ast.Attribute]]) -> Iterator[tuple[Step, ast.Attribute]]:
    """The reads that look into a container: not `len(self.x)`, not `self.config["size"]`."""
    return (read for read in reads if _looks_into(read[1]))


def _may_be_anything(value: Value) -> bool:
    """Whether a value is what a file was parsed to, or a part of it: a record, a setting, or a list of all samples."""
    origin = value.origin if isinstance(value, Derived) else value
    if not isinstance(origin, Product):
        return False
    if origin.name in apis.PARSES:
        return True
    steps = list(value.chain()) if isinstance(value, Derived) else []
    return origin.name in apis.LISTS_FILES and any(step.via == "[]" and not _is_slice(step.node) for step in steps)


def _is_slice(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)


def _looks_into(node: ast.Attribute) -> bool:
    around, key = parent(node), _key(node)
    return (
        (key is not None and not isinstance(key, ast.Constant))
        or (isinstance(around, ast.Attribute) and around.attr in _LOOKS_INTO)
        or (isinstance(around, ast.Call) and node in around.args and getattr(around.func, "id", "") != "len")
        or (isinstance(around, (ast.For, ast.comprehension)) and around.iter is node)
    )


def _holds_containers(value: Value, reads: list[tuple[Step, ast.Attribute]]) -> bool:
    """Whether nothing is known of the elements but that they are indexed themselves: `self.parts[name][i - start]`."""
    if not isinstance(value, Collection) or not value.each or not all(isinstance(v, Unknown) for v in value.each):
        return False
    picked = [node for _, node in reads if not _is_gone_through(node)]
    return bool(picked) and all(map(_is_indexed_twice, picked))


def _is_indexed_twice(node: ast.AST) -> bool:
    first = parent(node)
    key = _key(first) if _key(node) is not None and first is not None else None
    return key is not None and not isinstance(key, ast.Constant)


def _is_gone_through(node: ast.AST) -> bool:
    """`self.parts.values()`, as a sum of lengths reads them."""
    around = parent(node)
    return isinstance(around, ast.Attribute) and around.attr in ("items", "values", "keys")


def _picks(program: Program, variation: Variation, step: Step, node: ast.Attribute) -> bool:
    """Whether a read takes an element by what changes with the sample, there or in a function that it is given to."""
    around, key = parent(node), _key(node)
    if key is not None:
        return not isinstance(key, ast.Constant) and variation.of(key, step) is not False
    if isinstance(around, ast.Attribute) and around.attr in ("get", "index"):
        call = parent(around)
        given = call.args[:1] if isinstance(call, ast.Call) else []
        return any(variation.of(key, step) is not False for key in given)
    if isinstance(around, ast.Call) and node in around.args:
        return any(
            _hands_on(variation, step, around, node, v) for v in program.evaluator.values(around.func, step.frame)
        )
    return isinstance(around, (ast.For, ast.comprehension)) and around.iter is node


def _hands_on(variation: Variation, step: Step, call: ast.Call, node: ast.expr, function: Value) -> bool:
    """Whether a function that is given the container indexes it by what is not the same for all samples."""
    if not isinstance(function, Function):
        return False
    scope = function.scope
    names = {p.arg for p in scope.parameters if passed(p.arg, scope, call)[0] is node}
    for subscript in scope.index().subscripts:
        if isinstance(subscript.value, ast.Name) and subscript.value.id in names:
            key = subscript.slice
            given = passed(key.id, scope, call)[0] if isinstance(key, ast.Name) else None
            if not isinstance(key, ast.Constant) and (given is None or variation.of(given, step) is not False):
                return True
    return False


def _key(node: ast.AST) -> ast.expr | None:
    """The key by which something is taken out of what a node stands for."""
    around = parent(node)
    return around.slice if isinstance(around, ast.Subscript) and around.value is node else None
