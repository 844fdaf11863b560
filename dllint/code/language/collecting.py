"""What `dict`, `list`, `map` and their like make of what they are given."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code.language import elements
from dllint.code.language.links import mapped_by, set_mapped_by, set_parent
from dllint.code.language.scopes import last_name
from dllint.code.language.values import UNKNOWNS, Collection, Derived, Frame, Product, Value, Values, merge

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator

_PAIR = 2
"""A key and its value."""


def dict_call(ev: Evaluator, call: ast.Call, frame: Frame) -> Values:
    """`dict(...)`: one that the keywords spell out, a copy of what is given, or both: `{**base, ...}`."""
    if call.args and not call.keywords:
        found = ev.infer(call.args[0], frame)
        if any(map(_is_of_pairs, found)):
            return (_of_pairs(ev, call, found, frame),)
        return tuple(elements.taken_out(value, call, frame) for value in found)
    items = (*call.args[:1], *(keyword.value for keyword in call.keywords))
    keys = (*(None for _ in call.args[:1]), *(keyword.arg for keyword in call.keywords))
    return (Collection("dict", call, frame, items, keys),)


def ordered_dict_call(ev: Evaluator, call: ast.Call, frame: Frame) -> Values:
    """`OrderedDict(...)` as `dict(...)`; an empty one is left as it is written."""
    if not call.args and not call.keywords:
        return (Product("collections.OrderedDict", call, frame),)
    return dict_call(ev, call, frame)


def _is_of_pairs(value: Value) -> bool:
    """Whether it gives pairs of key and value: a list of tuples, `zip(keys, values)`, `other.items()`."""
    if isinstance(value, Derived):
        return value.via == ".items()"
    if isinstance(value, Product):
        return value.name in ("builtins.zip", "builtins.enumerate")
    return isinstance(value, Collection) and value.kind != "dict"


def _of_pairs(ev: Evaluator, call: ast.Call, found: Values, frame: Frame) -> Collection:
    """The dict of pairs: key by key where the source spells them out."""
    pairs = found[0].items if len(found) == 1 and isinstance(found[0], Collection) and found[0].each is None else ()
    spelled = [pair.elts for pair in pairs if isinstance(pair, ast.Tuple) and len(pair.elts) == _PAIR]
    if pairs and len(spelled) == len(pairs):
        around = found[0].frame if isinstance(found[0], Collection) else frame
        return Collection("dict", call, around, tuple(v for _, v in spelled), tuple(k for k, _ in spelled))
    return Collection("dict", call, frame, each=elements.parts(ev, call.args[0], found, 1, frame))


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
    for item in passed:
        set_parent(item.slice, item)
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
