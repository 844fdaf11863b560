"""Operators over what is known: arithmetic, comparisons, `and`, `or` and `not`."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dllint.code.language import elements
from dllint.code.language.containers import filled_later, updated_by
from dllint.code.language.values import (
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
    is_plain_object,
    merge,
    truth,
)
from dllint.patterns import pattern

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator

_WIDE = pattern(r"%[^a-zA-Z%]*(?:\d{4}|\*)")
"""A field of a text that is wider than a line."""
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
"""What each comparison of two known values does."""
_LONGEST = 10_000
"""Longer strings and larger numbers are not computed."""


def binary(ev: Evaluator, node: ast.BinOp, frame: Frame) -> Values:
    """What `a + b` and its kin give."""
    left, right = ev.infer(node.left, frame), ev.infer(node.right, frame)
    if not (left and right) and isinstance(node.op, ast.Add):  # a list that grows in a loop: `seen = seen + [x]`
        return merge((_grown(ev, side, node, frame),) for side in left or right) or UNKNOWNS
    if isinstance(node.op, ast.BitOr) and left and right and all(map(_is_dict, (*left, *right))):
        return _merged(node.left, node.right, node, frame)
    found = [_binary(ev, a, node.op, b, node, frame) for a in left for b in right][:16]
    lists = [value for value in found if isinstance(value, Collection)]
    if len(lists) > 1:  # one expression, and so one list: it holds what it can hold on any way
        found = [value for value in found if not isinstance(value, Collection)]
        found.append(_longer(ev, tuple(lists), node, frame))
    return merge((value,) for value in found) or UNKNOWNS


def augmented(ev: Evaluator, node: ast.AugAssign, frame: Frame) -> Values:
    """What `options |= {...}` leaves in the name."""
    if not isinstance(node.op, ast.BitOr) or not isinstance(node.target, ast.Name):
        return UNKNOWNS
    sides = [*ev.infer(node.target, frame), *ev.infer(node.value, frame)]
    return _merged(node.target, node.value, node, frame) if all(map(_is_dict, sides)) else UNKNOWNS


def _merged(left: ast.expr, right: ast.expr, node: ast.AST, frame: Frame) -> Values:
    """`{**left, **right}`"""
    return (Collection("dict", node, frame, (left, right), (None, None)),)


def _binary(ev: Evaluator, left: Value, op: ast.operator, right: Value, node: ast.BinOp, frame: Frame) -> Value:
    if isinstance(left, Const) and isinstance(right, Const):
        return _fold(left.value, op, right.value, node, frame)
    known = _number(left, op, right, node) or _joined(ev, left, op, right, node, frame)
    if known is not None:
        return known
    if isinstance(op, ast.Mod) and isinstance(left, Const) and isinstance(left.value, str):
        return Product("str", ast.Call(func=node, args=[], keywords=[]), frame)  # "%s/%s" % ..., as an f-string
    for side in (left, right):
        if isinstance(side, (Product, Derived)):
            return derived(side, "op", node, frame)
    return UNKNOWN


def _is_dict(value: Value) -> bool:
    return isinstance(value, Collection) and value.kind == "dict" and value.each is None


def _grown(ev: Evaluator, side: Value, node: ast.AST, frame: Frame) -> Value:
    is_list = isinstance(side, Collection) and side.kind in ("list", "tuple")
    return _longer(ev, (side,), node, frame) if is_list and isinstance(side, Collection) else UNKNOWN


def _joined(
    ev: Evaluator, left: Value, op: ast.operator, right: Value, node: ast.AST, frame: Frame
) -> Collection | None:
    """`[a] + [b]`: one list, item by item where both are spelled out."""
    if not isinstance(op, ast.Add) or not isinstance(left, Collection) or not isinstance(right, Collection):
        return None
    if left.kind != right.kind or left.kind not in ("list", "tuple"):
        return None
    if left.each is None and right.each is None and left.frame is right.frame:
        return Collection(left.kind, node, frame, (*left.items, *right.items))
    return _longer(ev, (left, right), node, frame)


def _longer(ev: Evaluator, parts: tuple[Collection, ...], node: ast.AST, frame: Frame) -> Collection:
    """A list of what some others hold, of which it is not known how many there are."""
    held = [values for part in parts for values in elements.contents(ev, part)]
    return Collection(parts[0].kind, node, frame, each=merge(held))


def _number(left: Value, op: ast.operator, right: Value, node: ast.AST) -> Number | None:
    """What is known of a number that is computed from others that are not known themselves."""
    if isinstance(op, (ast.Mult, ast.FloorDiv)) and _is_number_and_float(left, right):
        return Number(0, None, node, real=True)
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


def _is_number_and_float(left: Value, right: Value) -> bool:
    """Whether a number of processors, or the like, is combined with a float: `os.cpu_count() * 0.5`."""
    sides = ((left, right), (right, left))
    return any(isinstance(a, Number) and isinstance(b, Const) and isinstance(b.value, float) for a, b in sides)


def _span(left: Value, op: ast.operator, right: Value) -> tuple[float | None, float | None] | None:
    """Bounds of a sum, product or floor division of numbers that are not negative."""
    one, two = bounds(left), bounds(right)
    if one is None or two is None:
        return None
    (low, high), (from_, to) = one, two
    if low is None or from_ is None or low < 0 or from_ < 0:
        return None
    if isinstance(op, (ast.Add, ast.Mult)):
        fold = operator.add if isinstance(op, ast.Add) else operator.mul
        return (fold(low, from_), None if high is None or to is None else fold(high, to))
    return (0, high) if isinstance(op, ast.FloorDiv) else None


def _fold(left: Any, op: ast.operator, right: Any, node: ast.AST, frame: Frame) -> Value:
    function = _ARITHMETIC.get(type(op))
    if function is None or not _small(left) or not _small(right) or _is_long(left, op, right):
        return UNKNOWN
    try:
        value = function(left, right)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        return UNKNOWN
    return Const(value, node, frame.scope) if _small(value) else UNKNOWN


def _is_long(left: Any, op: ast.operator, right: Any) -> bool:
    """Whether a text would become longer than any that is looked at: `"a" * 10**9`, `"%999999999d" % 1`."""
    if isinstance(op, ast.Mod):
        return isinstance(left, (str, bytes)) and _WIDE.search(str(left)) is not None
    sides = ((left, right), (right, left)) if isinstance(op, ast.Mult) else ()
    return any(isinstance(a, (str, bytes)) and isinstance(b, int) and len(a) * b > _LONGEST for a, b in sides)


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
        within = _is_within(left.value, right)
        return None if within is None else within is isinstance(op, ast.In)
    one, two = bounds(left), bounds(right)
    if one is None or two is None:
        return None
    return _bounds_compared(one, op, two)


def _is_within(wanted: object, container: Collection) -> bool | None:
    """Whether a constant is among the items, or a dict's keys; None where not all of them are seen."""
    held = container.keys if container.kind == "dict" else container.items
    seen = [part.value if isinstance(part, ast.Constant) else part for part in held]
    if wanted in [part for part in seen if not isinstance(part, ast.AST)]:
        return True
    is_whole = container.each is None and not any(part is None or isinstance(part, ast.AST) for part in seen)
    return False if is_whole and not filled_later(container) and not updated_by(container) else None


def _is_made(value: Value) -> bool:
    """Whether a library call certainly gave an object: a constructor, by the field's way of writing their names."""
    return isinstance(value, Product) and (is_plain_object(value) or value.name.rpartition(".")[2][:1].isupper())


def _constants_compared(left: Any, op: ast.cmpop, right: Any) -> bool | None:
    function = COMPARISONS.get(type(op))
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
