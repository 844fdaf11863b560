"""Whether a test that was passed before makes sure that something passes a filter: `if not kept: raise ...`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dllint.code.language import classes, conditions, filters
from dllint.code.language.filters import Filter
from dllint.code.language.folding import COMPARISONS
from dllint.code.language.links import Condition, scope_of
from dllint.code.language.reaching import reaching
from dllint.code.language.scopes import FunctionScope, dotted, last_name
from dllint.code.language.values import Collection, Frame, Instance

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator

_CONSTRUCTORS = ("__init__", "__post_init__", "__attrs_post_init__", "setup")
_EMPTY: tuple[()] = ()
"""What stands for each kind of empty collection."""
_UNKNOWN = object()
_KEEPS_EMPTY = frozenset({"list", "tuple", "set", "frozenset", "sorted", "reversed", "iter", "enumerate", "dict"})
_OF_EMPTY: dict[str, Any] = {"len": 0, "any": False, "sum": 0, "bool": False}
_DEEPEST = 6


def is_assured(ev: Evaluator, filtered: ast.AST, passed: list[tuple[ast.AST, Frame]]) -> bool:
    """Whether control comes past these nodes only if something passes the filter.

    `filtered` is a comprehension with conditions, or a call of `filter`; `passed` are the node that takes from it and
    the calls that lead there, each with its frame.
    """
    for node, frame in passed:
        if any(_rules_out(ev, filtered, each, frame) for each in conditions.leading_to(node)):
            return True
    return any(_rules_out(ev, filtered, each, frame) for each, frame in _of_constructors(ev, passed[0][1]))


def _of_constructors(ev: Evaluator, frame: Frame) -> Iterator[tuple[Condition, Frame]]:
    """What holds of an object once it is made, as its constructor raises an error otherwise."""
    receiver = frame.receiver
    if not isinstance(receiver, Instance):
        return
    for name in _CONSTRUCTORS:
        made = classes.method(ev, receiver.cls, name)
        for scope in _with_helpers(ev, receiver, made) if made is not None else ():
            for each in conditions.left_by_body(scope.node):
                yield each, Frame(scope, receiver)


def _with_helpers(ev: Evaluator, receiver: Instance, made: FunctionScope) -> Iterator[FunctionScope]:
    """A constructor, and the methods of the object that it calls: `self._validate()`."""
    yield made
    for call in made.index().calls:
        if isinstance(call.func, ast.Attribute) and dotted(call.func.value) == made.receiver_name:
            helper = classes.method(ev, receiver.cls, call.func.attr)
            if helper is not None:
                yield helper


def _rules_out(ev: Evaluator, filtered: ast.AST, condition: Condition, frame: Frame) -> bool:
    test, outcome = condition
    found = _Nothing(ev, filtered, frame).value(test)
    return found is not _UNKNOWN and bool(found) is not outcome


class _Nothing:
    """What expressions are where nothing passes the filter."""

    def __init__(self, ev: Evaluator, filtered: ast.AST, frame: Frame) -> None:
        self.ev, self.filtered, self.frame = ev, filtered, frame

    @cached_property
    def filter(self) -> Filter | None:
        """What nothing meets."""
        return filters.read(self.filtered, self.aliases)

    @cached_property
    def aliases(self) -> dict[str, str]:
        """The attributes that a method stores its names as: `self.names = names`."""
        scope = self.frame.scope
        written = [(w.binding.value, w.target) for w in scope.index().writes if not w.element]
        return {value.id: dotted(target) for value, target in written if isinstance(value, ast.Name)}

    def value(self, node: ast.AST, depth: int = 0) -> Any:
        """What `node` is: a constant, `_EMPTY`, or `_UNKNOWN`."""
        if depth > _DEEPEST:
            return _UNKNOWN
        if node is self.filtered or isinstance(node, filters.COMPREHENSIONS):
            return _EMPTY if self._is_empty(node) else _UNKNOWN
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, (ast.List, ast.Tuple, ast.Dict)) and not any(ast.iter_child_nodes(node)):
            return _EMPTY
        handler = self._HANDLERS.get(type(node))
        return handler(self, node, depth + 1) if handler is not None else _UNKNOWN

    def _is_empty(self, node: ast.AST) -> bool:
        """Whether a comprehension asks at least what the filter asks, of the same things."""
        if node is self.filtered:
            return True
        other = filters.read(node, self.aliases)
        return other is not None and self.filter is not None and other.implies(self.filter)

    def _name(self, node: ast.Name, depth: int) -> Any:
        held = self._held(node)
        return _UNKNOWN if held is None else self.value(held, depth)

    def _attribute(self, node: ast.Attribute, depth: int) -> Any:
        found = self.ev.values(node, self.frame)
        one = found[0] if len(found) == 1 else None
        return self.value(one.node, depth) if isinstance(one, Collection) else _UNKNOWN

    def _not(self, node: ast.UnaryOp, depth: int) -> Any:
        found = self.value(node.operand, depth)
        return _UNKNOWN if found is _UNKNOWN or not isinstance(node.op, ast.Not) else not found

    def _boolean(self, node: ast.BoolOp, depth: int) -> Any:
        found = [self.value(part, depth) for part in node.values]
        ends_on = isinstance(node.op, ast.Or)
        if any(value is not _UNKNOWN and bool(value) is ends_on for value in found):
            return ends_on
        return _UNKNOWN if any(value is _UNKNOWN for value in found) else not ends_on

    def _compare(self, node: ast.Compare, depth: int) -> Any:
        if len(node.ops) != 1:
            return _UNKNOWN
        op, right = node.ops[0], node.comparators[0]
        if isinstance(op, (ast.In, ast.NotIn)):
            return isinstance(op, ast.NotIn) if self._lacks(node.left, right, depth) else _UNKNOWN
        one, two = self.value(node.left, depth), self.value(right, depth)
        function = COMPARISONS.get(type(op))
        if one is _UNKNOWN or two is _UNKNOWN or function is None:
            return _UNKNOWN
        try:
            return function(one, two)
        except TypeError:
            return _UNKNOWN

    def _lacks(self, item: ast.expr, container: ast.expr, depth: int) -> bool:
        """Whether a container cannot hold an item: `name in names`, as no `n == name for n in names`."""
        if self.value(container, depth) == _EMPTY:
            return True
        equal = filters.of_equal(self._spelled(container), item, self.aliases)
        return self.filter is not None and equal.implies(self.filter)

    def _spelled(self, node: ast.expr) -> ast.expr:
        """What a local name holds: `names = [r.name for r in rows]`, `names = {r.name for r in rows}`."""
        held = self._held(node) if isinstance(node, ast.Name) else None
        if isinstance(held, ast.Call) and last_name(held) in _KEEPS_EMPTY and held.args:
            return held.args[0]
        return held if isinstance(held, filters.COMPREHENSIONS) else node

    @staticmethod
    def _held(node: ast.Name) -> ast.AST | None:
        """What the one assignment that a name can come from gives it."""
        bindings = scope_of(node).index().bindings.get(node.id, [])
        chosen = reaching(bindings, node) if bindings else []
        return chosen[0].value if len(chosen) == 1 and chosen[0].kind == "assign" else None

    def _call(self, node: ast.Call, depth: int) -> Any:
        name = last_name(node) if isinstance(node.func, ast.Name) else ""
        if name == "next" and len(node.args) == 2 and self.value(node.args[0], depth) == _EMPTY:
            return self.value(node.args[1], depth)
        if not node.args or self.value(node.args[0], depth) != _EMPTY:
            return _UNKNOWN
        return _EMPTY if name in _KEEPS_EMPTY else _OF_EMPTY.get(name, _UNKNOWN)

    def _named(self, node: ast.NamedExpr, depth: int) -> Any:
        return self.value(node.value, depth)

    _HANDLERS: dict[type[ast.AST], Callable[..., Any]] = {
        ast.Name: _name,
        ast.Attribute: _attribute,
        ast.UnaryOp: _not,
        ast.BoolOp: _boolean,
        ast.Compare: _compare,
        ast.Call: _call,
        ast.NamedExpr: _named,
    }
