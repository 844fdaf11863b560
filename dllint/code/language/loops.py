"""Loops around a node: which repeat it, whether what it names stays the same, whether they pass a handful of items."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language.links import parent, scope_of
from dllint.code.language.scopes import dotted
from dllint.code.language.values import (
    Collection,
    Const,
    Derived,
    Frame,
    Product,
    Value,
)

if TYPE_CHECKING:
    from dllint.code.program import Program

Loop = ast.For | ast.AsyncFor | ast.While | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_STATEMENTS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.Module)
_DEEPEST = 6
"""Loops over what other loops made that are followed."""
_OF_CLASSES = frozenset({"categories", "classes", "class_names", "classnames", "class_to_idx", "label_names"})
"""Keys under which files keep one entry for each class."""
_GIVES_CLASSES = frozenset({".getCatIds()", ".loadCats()", ".cats", ".categories", ".classes", ".class_to_idx"})
"""Attributes and methods of libraries' objects that give these."""
_MOST_SPELLED_OUT = 100
"""Items that somebody has written down, and that are no samples."""


def loop_around(node: ast.AST) -> ast.AST | None:
    """The loop or comprehension that a node stands in, within its function."""
    at = parent(node)
    while at is not None and not isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module)):
        if isinstance(at, (ast.For, ast.While, ast.ListComp, ast.DictComp, ast.SetComp)):
            return at
        at = parent(at)
    return None


def around(node: ast.AST) -> Iterator[Loop]:
    """The loops that run a node again and again, the innermost first: not those that only start from it."""
    child, at = node, parent(node)
    while at is not None and not isinstance(at, _FUNCTIONS):
        if isinstance(at, _LOOPS) and _repeats(at, child):
            yield at
        child, at = at, parent(at)


def _repeats(loop: Loop, part: ast.AST) -> bool:
    if isinstance(loop, _STATEMENTS):
        return not any(part is other for other in (getattr(loop, "iter", None), *loop.orelse))
    return part is not loop.generators[0]


def holds(loop: Loop, node: ast.AST) -> bool:
    """Whether a loop runs a node of its own scope again and again."""
    return any(found is loop for found in around(node))


def runs_once(program: Program, loop: Loop, frame: Frame) -> bool:
    """Whether a loop is left in its first turn, or has one turn only."""
    if not isinstance(loop, _STATEMENTS):
        return False
    if ends(loop.body):
        return True
    count = turns(program, loop, frame) if not isinstance(loop, ast.While) else None
    return count is not None and count <= 1


def ends(body: list[ast.stmt]) -> bool:
    """Whether a loop's body ends in leaving the loop, whatever happens: `try: run() ... break`."""
    last = body[-1]
    if isinstance(last, ast.Try):
        return ends(last.orelse or last.body) or (bool(last.finalbody) and ends(last.finalbody))
    return isinstance(last, (ast.Break, ast.Return, ast.Raise))


def turns(program: Program, loop: ast.AST, frame: Frame) -> int | None:
    """How often a loop or comprehension turns at the most, where the source says it."""
    generators = getattr(loop, "generators", None)
    sources = [generator.iter for generator in generators] if generators else [getattr(loop, "iter", None)]
    total = 1
    for source in sources:
        counts = [_count(program, v) for v in program.evaluator.values(source, frame)] if source is not None else [None]
        known = [count for count in counts if count is not None]
        if len(known) < len(counts):
            return None
        total *= max(known)
    return total


def _count(program: Program, value: object) -> int | None:
    """How many items a loop over the value passes, where the source says it."""
    if isinstance(value, Collection) and value.each is None:
        return len(value.items)
    if isinstance(value, Product) and value.name == "builtins.range" and len(value.node.args) == 1:
        found = program.evaluator.values(value.node.args[0], value.frame)
        counts = [v.value for v in found if isinstance(v, Const) and isinstance(v.value, int)]
        return max(counts) if counts and len(counts) == len(found) else None
    return None


def changes(node: ast.AST, loop: Loop) -> bool:
    """Whether an expression may name something else in each turn of a loop around it."""
    return bool(_names(node) & (bound_in(loop) - _passed_each_time(loop)))


def _names(node: ast.AST) -> set[str]:
    return {dotted(part) for part in ast.walk(node) if isinstance(part, (ast.Name, ast.Attribute))}


def _passed_each_time(loop: Loop) -> set[str]:
    """The targets of inner loops that pass the same things in each turn: `for phase in ("train", "val")`."""
    bound = bound_in(loop)
    inner = [
        one for one in scope_of(loop).index().loops if isinstance(one, (ast.For, ast.AsyncFor)) and one is not loop
    ]
    steady = [one for one in inner if holds(loop, one) and not _names(one.iter) & bound]
    return {part.id for one in steady for part in ast.walk(one.target) if isinstance(part, ast.Name)}


def bound_in(loop: Loop) -> set[str]:
    """The dotted names that a loop gives a meaning in each turn: its targets, and what its body assigns."""
    targets = [loop.target] if isinstance(loop, (ast.For, ast.AsyncFor)) else []
    if not isinstance(loop, _STATEMENTS):
        targets = [generator.target for generator in loop.generators]
    found = {dotted(part) for target in targets for part in ast.walk(target)}
    scope = scope_of(loop).index()
    for name, bindings in scope.bindings.items():
        if any(binding.kind not in ("import", "scope") and holds(loop, binding.node) for binding in bindings):
            found.add(name)
    found |= {dotted(write.target) for write in scope.writes if not write.element and holds(loop, write.node)}
    return found - {""}


def assigned(named: ast.Name | ast.Attribute, loop: Loop) -> list[ast.AST]:
    """The values that a loop's body assigns to a name or an attribute."""
    scope, text = scope_of(loop).index(), dotted(named)
    found = [b for b in scope.bindings.get(text, ()) if holds(loop, b.node)]
    found += [w.binding for w in scope.writes if not w.element and dotted(w.target) == text and holds(loop, w.node)]
    return [b.value for b in found if b.value is not None and b.kind == "assign"]


def loops_over_few(program: Program, loop: ast.AST, frame: Frame) -> bool:
    """Whether a loop passes a handful of spelled-out items only: not one for each sample."""
    iterated = loop.iter if isinstance(loop, ast.For) else _comprehended(loop)
    return iterated is not None and are_few(program, iterated, frame)


def are_few(program: Program, iterated: ast.expr, frame: Frame) -> bool:
    """Whether an expression gives a handful of spelled-out items only."""
    for value in program.evaluator.values(iterated, frame):
        origin = (
            value.base if isinstance(value, Derived) and value.via in (".items()", ".keys()", ".values()") else value
        )
        if isinstance(origin, Collection) and origin.each is None and len(origin.items) < _MOST_SPELLED_OUT:
            return True
        if _is_of_classes(program, origin, 0):
            return True
        if isinstance(origin, Product) and origin.name == "builtins.range" and origin.node.args:
            counts = [
                v.value for v in program.evaluator.values(origin.node.args[-1], origin.frame) if isinstance(v, Const)
            ]
            if counts and all(isinstance(c, int) and c < 16 for c in counts):
                return True
    return False


def _is_of_classes(program: Program, value: Value, depth: int) -> bool:
    """Whether a value is what a file says of classes, or made of that by loops: `sorted(data["categories"])`."""
    if isinstance(value, Derived):
        steps = list(value.chain())
        if any(step.index in _OF_CLASSES or step.via in _GIVES_CLASSES for step in steps):
            return True
        value = value.origin
    source = _source(value)
    if source is None or depth > _DEEPEST or not isinstance(value, (Collection, Product)):
        return False
    found = program.evaluator.values(source, value.frame)
    return bool(found) and all(_is_of_classes(program, one, depth + 1) for one in found)


def _source(value: Value) -> ast.expr | None:
    """What a comprehension, or a call that passes elements on, goes through."""
    if isinstance(value, Collection) and value.each is not None:
        node = value.node
        return _comprehended(node) or (node.args[0] if isinstance(node, ast.Call) and node.args else None)
    is_passed_on = isinstance(value, Product) and value.name in ("builtins.enumerate", "builtins.sorted")
    return value.node.args[0] if is_passed_on and isinstance(value, Product) and value.node.args else None


def _comprehended(loop: ast.AST) -> ast.expr | None:
    generators = getattr(loop, "generators", None)
    return generators[0].iter if generators else None
