"""Operators and conditions over what is known: arithmetic, comparisons, and what a passed `if` says about a name."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from dllint.code.bindings import Binding
from dllint.code.links import Block, conditions_of, names_in, parent, set_conditions_of, set_names_in
from dllint.code.scopes import dotted
from dllint.code.values import (
    UNKNOWN,
    UNKNOWNS,
    ClassRef,
    Collection,
    Const,
    Derived,
    Frame,
    Function,
    Instance,
    Number,
    Partial,
    Product,
    Value,
    Values,
    bounds,
    derived,
    merge,
    truth,
)

if TYPE_CHECKING:
    from dllint.code.evaluator import Evaluator

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
_LONGEST = 10_000
"""Longer strings and larger numbers are not computed."""


def binary(ev: Evaluator, node: ast.BinOp, frame: Frame) -> Values:
    """What `a + b` and its kin give."""
    left, right = ev.infer(node.left, frame), ev.infer(node.right, frame)
    pairs = [(a, b) for a in left for b in right][:16]
    return merge((_binary(a, node.op, b, node, frame),) for a, b in pairs) or UNKNOWNS


def _binary(left: Value, op: ast.operator, right: Value, node: ast.AST, frame: Frame) -> Value:
    if isinstance(left, Const) and isinstance(right, Const):
        return _fold(left.value, op, right.value, node, frame)
    known = _number(left, op, right, node) or _joined(left, op, right, node, frame)
    if known is not None:
        return known
    for side in (left, right):
        if isinstance(side, (Product, Derived)):
            return derived(side, "op", node, frame)
    return UNKNOWN


def _joined(left: Value, op: ast.operator, right: Value, node: ast.AST, frame: Frame) -> Collection | None:
    """`[a] + [b]`: one list where both are spelled out."""
    if not isinstance(op, ast.Add) or not isinstance(left, Collection) or not isinstance(right, Collection):
        return None
    if left.each is None and right.each is None and left.kind == right.kind != "dict" and left.frame is right.frame:
        return Collection(left.kind, node, frame, (*left.items, *right.items))
    return None


def _number(left: Value, op: ast.operator, right: Value, node: ast.AST) -> Number | None:
    """What is known of a number that is computed from others that are not known themselves."""
    if isinstance(op, ast.Mult):
        for side, other in ((left, right), (right, left)):
            if isinstance(side, Number) and side.cpus:
                factor = bounds(other)
                return Number(1, None, node, cpus=factor is None or (factor[0] or 0) >= 1)
    if isinstance(op, ast.Div) and isinstance(left, Number):
        return Number(left.low and 0, None, node, real=True)
    if isinstance(op, ast.Mod) and bounds(left) is not None:
        return Number(0, None, node)
    span = _span(left, op, right)
    return Number(*span, node) if span is not None else None


def _span(left: Value, op: ast.operator, right: Value) -> tuple[float | None, float | None] | None:
    """Bounds of a sum, product or floor division of numbers that are not negative."""
    one, two = bounds(left), bounds(right)
    if one is None or two is None or (one[0] or -1) < 0 or (two[0] or -1) < 0:
        return None
    (low, high), (from_, to) = one, two
    if isinstance(op, (ast.Add, ast.Mult)):
        fold = operator.add if isinstance(op, ast.Add) else operator.mul
        return (fold(low, from_), None if high is None or to is None else fold(high, to))
    return (0, high) if isinstance(op, ast.FloorDiv) else None


def _fold(left: Any, op: ast.operator, right: Any, node: ast.AST, frame: Frame) -> Value:
    function = _ARITHMETIC.get(type(op))
    if function is None or not _small(left) or not _small(right):
        return UNKNOWN
    try:
        value = function(left, right)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        return UNKNOWN
    return Const(value, node, frame.scope) if _small(value) else UNKNOWN


def _small(value: Any) -> bool:
    if isinstance(value, (int, float)):
        return abs(value) < 10**18
    return isinstance(value, (str, bytes)) and len(value) <= _LONGEST


def boolean(ev: Evaluator, node: ast.BoolOp, frame: Frame) -> Values:
    """`a or b` gives `a` where it may be true, else `b`."""
    ends_on = isinstance(node.op, ast.Or)
    groups: list[Values] = []
    for part in node.values[:-1]:
        found = ev.infer(part, frame)
        kept = tuple(v for v in found if truth(v) in (ends_on, None))
        groups.append(kept)
        if found and all(truth(v) is ends_on for v in found):
            return merge(groups)
    groups.append(ev.infer(node.values[-1], frame))
    return merge(groups)


def unary(ev: Evaluator, node: ast.UnaryOp, frame: Frame) -> Values:
    """What `not a` and `-a` give."""
    found = ev.infer(node.operand, frame)
    if isinstance(node.op, ast.Not):
        return merge((_negated(v, node, frame),) for v in found)
    if isinstance(node.op, ast.USub):
        return merge((_minus(v, node, frame),) for v in found)
    return UNKNOWNS


def _negated(value: Value, node: ast.AST, frame: Frame) -> Value:
    known = truth(value)
    return UNKNOWN if known is None else Const(not known, node, frame.scope)


def _minus(value: Value, node: ast.AST, frame: Frame) -> Value:
    if isinstance(value, Const) and isinstance(value.value, (int, float)):
        return Const(-value.value, node, frame.scope)
    return UNKNOWN


def compare(ev: Evaluator, node: ast.Compare, frame: Frame) -> Values:
    """What `a < b` and its kin give; nothing is known of chains."""
    if len(node.ops) != 1:
        return UNKNOWNS
    left, right = ev.infer(node.left, frame), ev.infer(node.comparators[0], frame)
    found: list[Values] = []
    for one in left:
        for two in right[:8]:
            verdict = _compared(one, node.ops[0], two)
            found.append((UNKNOWN,) if verdict is None else (Const(verdict, node, frame.scope),))
    return merge(found)


_OBJECTS = (Instance, ClassRef, Function, Partial, Product, Collection)


def _compared(left: Value, op: ast.cmpop, right: Value) -> bool | None:
    if isinstance(op, (ast.Is, ast.IsNot)) and isinstance(right, Const) and right.value is None:
        if isinstance(left, Const):
            return (left.value is None) is isinstance(op, ast.Is)
        made = isinstance(left, (Instance, Function, Partial, Number, Collection)) or _is_made(left)
        return isinstance(op, ast.IsNot) if made else None
    if isinstance(left, Const) and isinstance(right, Const):
        return _constants_compared(left.value, op, right.value)
    if isinstance(left, Const) and isinstance(right, Collection) and isinstance(op, (ast.In, ast.NotIn)):
        if right.each is None and all(isinstance(item, ast.Constant) for item in right.items):
            within = left.value in [item.value for item in right.items if isinstance(item, ast.Constant)]
            return within is isinstance(op, ast.In)
        return None
    one, two = bounds(left), bounds(right)
    if one is None or two is None:
        return None
    return _bounds_compared(one, op, two)


def _is_made(value: Value) -> bool:
    """Whether a library call certainly gave an object: a constructor, by the field's way of writing their names."""
    return isinstance(value, Product) and value.name.rpartition(".")[2][:1].isupper()


def _constants_compared(left: Any, op: ast.cmpop, right: Any) -> bool | None:
    function = _COMPARISONS.get(type(op))
    if function is None:
        return None
    try:
        return bool(function(left, right))
    except TypeError:
        return None


def _bounds_compared(
    one: tuple[float | None, float | None], op: ast.cmpop, two: tuple[float | None, float | None]
) -> bool | None:
    (low, high), (from_, to) = one, two
    above = low is not None and to is not None and low > to
    below = high is not None and from_ is not None and high < from_
    if isinstance(op, (ast.Gt, ast.GtE, ast.NotEq)):
        return True if above else False if below and not isinstance(op, ast.NotEq) else True if below else None
    if isinstance(op, (ast.Lt, ast.LtE, ast.Eq)):
        return False if above else True if below and not isinstance(op, ast.Eq) else False if below else None
    return None


def verdict(ev: Evaluator, test: ast.expr, frame: Frame) -> bool | None:
    """Whether a condition holds on every known possibility (True), on none (False), or may be either (None)."""
    found = {truth(value) for value in ev.infer(test, frame)}
    return found.pop() if len(found) == 1 else None


# What the conditions around a use say about a name

_DEFINING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
_MOST_CONDITIONS = 30
"""Tests around one node that are looked at, the nearest first."""


def narrowed(ev: Evaluator, node: ast.Name | ast.Attribute, found: Values, frame: Frame) -> Values:
    """`found` without the constants that the conditions passed on the way to `node` rule out."""
    if len(ev.assumed) > 3 or not any(isinstance(v, (Const, Number, Instance, Product)) for v in found):
        return found
    key = dotted(node)
    if not key:
        return found
    tests = [(test, outcome) for test, outcome in conditions(node) if mentions(test, key)]
    if not tests:
        return found
    by_class = [(test, outcome) for test, outcome in tests if mentions(test, "isinstance")]
    if not by_class and not any(isinstance(v, (Const, Number)) for v in found):
        return found
    kept = tuple(
        value
        for value in found
        if not _ruled_out(ev, key, value, tests if isinstance(value, (Const, Number)) else by_class, frame)
    )
    return kept or UNKNOWNS


def survivors(ev: Evaluator, name: str, groups: list[tuple[Binding, Values]], frame: Frame) -> Iterator[Values]:
    """The values of several bindings, without those that `if x is None: x = 4` replaces."""
    if len(groups) > _MOST_CONDITIONS:
        yield from (values for _, values in groups)
        return
    groups = _on_taken_branches(ev, groups, frame)
    for binding, values in groups:
        tests = [
            (other.block.owner.test, other.block.branch != "body")
            for other, _ in groups
            if isinstance(other.block.owner, ast.If)
            and other is not binding
            and binding.block.holds(other.block)
            and other.block is not binding.block
            and mentions(other.block.owner.test, name)
        ]
        yield tuple(_capped(v, name, tests) for v in values if not tests or not _ruled_out(ev, name, v, tests, frame))


def _on_taken_branches(
    ev: Evaluator, groups: list[tuple[Binding, Values]], frame: Frame
) -> list[tuple[Binding, Values]]:
    """The bindings of branches that may be taken; only those of a branch, and later ones, that certainly is."""
    if not any(isinstance(binding.block.owner, ast.If) for binding, _ in groups):
        return groups
    if not any(isinstance(value, (Const, Number)) for _, values in groups for value in values):
        return groups
    kept: list[tuple[Binding, Values]] = []
    for binding, values in groups:
        owner, branch = binding.block.owner, binding.block.branch
        taken = verdict(ev, owner.test, frame) if isinstance(owner, ast.If) and branch in ("body", "orelse") else None
        if taken is (branch != "body") and taken is not None:
            continue
        if taken is not None:
            kept = [(b, v) for b, v in kept if not b.block.holds(binding.block)]
        kept.append((binding, values))
    return kept or groups


def is_ruled_out(ev: Evaluator, block: Block, frame: Frame) -> bool:
    """Whether a block is a branch that what is assumed rules out."""
    owner = block.owner
    if not isinstance(owner, ast.If) or block.branch not in ("body", "orelse"):
        return False
    return verdict(ev, owner.test, frame) is (block.branch != "body")


def _capped(value: Value, name: str, tests: list[tuple[ast.expr, bool]]) -> Value:
    """A number after `if n > 8: n = 8`: bounded, by whatever it is compared with."""
    if not isinstance(value, Number) or value.high is not None:
        return value
    for test, _ in tests:
        ordered = isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Gt, ast.GtE, ast.Lt, ast.LtE))
        if ordered and mentions(test, name):
            return Number(value.low, None, value.node)
    return value


def _ruled_out(ev: Evaluator, key: str, value: Value, tests: list[tuple[ast.expr, bool]], frame: Frame) -> bool:
    if not isinstance(value, (Const, Number, Instance, Product)) or not tests:
        return False
    ev.assumed.append((key, value))
    try:
        return any(verdict(ev, test, frame) is (not outcome) for test, outcome in tests)
    finally:
        ev.assumed.pop()


def mentions(test: ast.expr, key: str) -> bool:
    """Whether a condition speaks of a dotted name."""
    names = names_in(test)
    if names is None:
        names = frozenset(dotted(part) for part in ast.walk(test) if isinstance(part, (ast.Name, ast.Attribute)))
        set_names_in(test, names)
    return key in names


def conditions(node: ast.AST) -> list[tuple[ast.expr, bool]]:
    """The tests that decide whether `node` is reached, with the outcome that leads to it."""
    found = conditions_of(node)
    if found is not None:
        return found
    path: list[ast.AST] = [node]
    at = parent(node)
    while at is not None and conditions_of(at) is None and not isinstance(at, _DEFINING):
        path.append(at)
        at = parent(at)
    known = (conditions_of(at) if at is not None else None) or []
    while path:
        child = path.pop()
        own = list(_own_conditions(child, at)) if at is not None else []
        known = (own + known)[:_MOST_CONDITIONS] if own else known
        set_conditions_of(child, known)
        at = child
    return known


def _own_conditions(child: ast.AST, at: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """The tests that decide, within `at`, whether its part `child` is reached."""
    if isinstance(at, ast.IfExp) and child is not at.test:
        yield at.test, child is at.body
    elif isinstance(at, ast.BoolOp):
        for part in at.values[:_MOST_CONDITIONS]:
            if part is child:
                break
            yield part, isinstance(at.op, ast.And)
    elif isinstance(at, (ast.If, ast.While)) and child is not at.test:
        yield at.test, any(child is statement for statement in at.body)
    if isinstance(child, ast.stmt):
        yield from _passed(child, at)


def _passed(statement: ast.stmt, owner: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """The tests of earlier statements that would have left the block: `if x == 0: return`, `assert x`."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(owner, name, None)
        if not isinstance(block, list) or not any(statement is other for other in block):
            continue
        for earlier in block:
            if earlier is statement:
                return
            if isinstance(earlier, ast.Assert):
                yield earlier.test, True
            elif isinstance(earlier, ast.If) and _leaves(earlier.body) and not earlier.orelse:
                yield earlier.test, False


def _leaves(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))


def is_guarded(node: ast.AST) -> bool:
    """Whether a node stands under `if __name__ == "__main__"`, in any of the ways in which that is written."""
    return any(_is_main_test(test) for test, outcome in conditions(node) if outcome)


def _is_main_test(test: ast.expr) -> bool:
    return any(isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(test))
