"""What `dict`, `list`, `map` and their like make of what they are given."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code.language import elements
from dllint.code.language.links import mapped_by, set_mapped_by, set_parent
from dllint.code.language.scopes import last_name
from dllint.code.language.values import UNKNOWNS, Collection, Frame, Product, Value, Values, derived, merge

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator


def dict_call(ev: Evaluator, call: ast.Call, frame: Frame) -> Values:
    """`dict(...)`: one that the keywords spell out, a copy of what is given, or both: `{**base, ...}`."""
    if call.args and not call.keywords:
        found = ev.infer(call.args[0], frame)
        if any(isinstance(v, Collection) and v.kind != "dict" for v in found):
            return (Collection("dict", call, frame, each=UNKNOWNS),)
        return tuple(_taken_out(value, call, frame) for value in found)
    items = (*call.args[:1], *(keyword.value for keyword in call.keywords))
    keys = (*(None for _ in call.args[:1]), *(keyword.arg for keyword in call.keywords))
    return (Collection("dict", call, frame, items, keys),)


def _taken_out(value: Value, call: ast.Call, frame: Frame) -> Value:
    """What a dict of something is: of an open archive, all that is in it; else as good as what is given."""
    if isinstance(value, Product) and value.name == "numpy.load":
        return derived(value, ".dict()", call, frame)
    return value


def sequence_call(ev: Evaluator, call: ast.Call, frame: Frame) -> Values:
    """`list(...)`, `sorted(...)` and their like: a container of the elements of what is given."""
    kind = {"sorted": "list", "reversed": "list", "frozenset": "set"}.get(last_name(call.func), last_name(call.func))
    if not call.args:
        return (Collection(kind, call, frame),)
    found = ev.infer(call.args[0], frame)
    return (Collection(kind, call, frame, each=elements.elements(ev, call.args[0], found, frame)),)


def map_call(ev: Evaluator, call: ast.Call, frame: Frame) -> Values:
    """`map(function, items)`: what the function gives for any of the items."""
    if len(call.args) < 2:
        return UNKNOWNS
    made = _mapped(call)
    each = merge(ev.result(function, made, frame) for function in ev.infer(call.args[0], frame))
    return (Collection("generator", call, frame, each=each or UNKNOWNS),)


def _mapped(call: ast.Call) -> ast.Call:
    """The call that `map` makes for each item: what it passes is written as an item whose index is not known."""
    known = mapped_by(call)
    if known is not None:
        return known
    passed = [ast.copy_location(ast.Subscript(a, ast.Name("_"), ast.Load()), a) for a in call.args[1:]]
    made = ast.copy_location(ast.Call(func=call.args[0], args=[*passed], keywords=[]), call)
    for node in (made, *passed):
        set_parent(node, call)
    set_mapped_by(call, made)
    return made


def filter_call(ev: Evaluator, call: ast.Call, frame: Frame) -> Values:
    """`filter(function, items)`: a generator of values that are not known."""
    return (Collection("generator", call, frame, each=UNKNOWNS),)


def next_call(ev: Evaluator, call: ast.Call, frame: Frame) -> Values:
    """`next(iterator)`: an element of what is iterated."""
    if not call.args:
        return UNKNOWNS
    return elements.elements(ev, call.args[0], ev.infer(call.args[0], frame), frame)
