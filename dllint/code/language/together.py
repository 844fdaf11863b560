"""Attributes and variables that are set together: where one is None, the other has not what is set beside it.

if streaming:
    self.dataset = Stream()
    self.loader = DataLoader(self.dataset)
...
if self.loader is None:  # then no Stream
    self.loader = DataLoader(self.dataset, num_workers=4)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from dllint.code.language import branches, classes
from dllint.code.language.bindings import AttributeWrite, Binding
from dllint.code.language.conditions import each_alone, leading_to
from dllint.code.language.scopes import ClassScope, FunctionScope, Scope, dotted
from dllint.code.language.values import Frame, Instance, Values, merge

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator

_Stored = tuple[AttributeWrite, FunctionScope]


class _Known(NamedTuple):
    """What the way to a node says of an attribute or a variable."""

    name: str
    is_set: bool
    """Whether it is something; else it is None, or counts as false."""


def narrowed(ev: Evaluator, use: ast.Attribute, found: Values, frame: Frame) -> Values:
    """What `self.name` can be at `use`, without what its class only stores where that does not lead to `use`."""
    known = _known_of(use) if len(found) > 1 else []
    for holder in ev.infer(use.value, frame) if known else ():
        if isinstance(holder, Instance):
            family = list(classes.project_mro(ev, holder.cls))
            stored = _stored(family, use.attr)
            kept = [each for each in stored if not any(_is_beside(each, one, family) for one in known)]
            if 0 < len(kept) < len(stored):
                left = {value.key for value in _values(ev, holder, kept)}
                gone = {value.key for value in _values(ev, holder, stored)} - left
                found = tuple(value for value in found if value.key not in gone) or found
    return found


def _known_of(use: ast.Attribute) -> list[_Known]:
    """What the way to an attribute says of others of the same object."""
    holder = dotted(use.value)
    return [one for one in _known(use) if holder and one.name.rpartition(".")[0] == holder]


def _stored(family: Sequence[ClassScope], name: str) -> list[_Stored]:
    return [each for cls in family for each in cls.writes_of(name) if not each[0].element]


def _values(ev: Evaluator, holder: Instance, stored: Sequence[_Stored]) -> Values:
    return merge(ev.written(write, classes.method_frame(ev, holder, method)) for write, method in stored)


def _is_beside(stored: _Stored, known: _Known, family: Sequence[ClassScope]) -> bool:
    """Whether a value is stored beside another attribute, in one method alone, which then is not as it is known."""
    others = _stored(family, known.name.rpartition(".")[2])
    if any(method is not stored[1] for _, method in others):
        return False
    return any(_is_passed_with(stored[0].binding, w.binding) and _contradicts(known, w.binding) for w, _ in others)


def compatible(bindings: Sequence[Binding], use: ast.AST, scope: Scope) -> list[Binding]:
    """Of the bindings of a variable that reach `use`, those under no opposite condition, and beside which nothing is
    set otherwise than it is known to be there."""
    bindings = branches.compatible(bindings, use, scope)
    known = [(one, scope.index().bindings.get(one.name, ())) for one in _known(use) if "." not in one.name]
    kept = [
        binding
        for binding in bindings
        if not any(_is_passed_with(binding, o) and _contradicts(one, o) for one, others in known for o in others)
    ]
    return kept or list(bindings)


def _known(use: ast.AST) -> Iterator[_Known]:
    for test, outcome in each_alone(leading_to(use)):
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and _is_none(test.comparators[0]):
            if isinstance(test.ops[0], (ast.Is, ast.IsNot)) and dotted(test.left):
                yield _Known(dotted(test.left), isinstance(test.ops[0], ast.IsNot) is outcome)
        elif dotted(test):
            yield _Known(dotted(test), outcome)


def _is_passed_with(binding: Binding, other: Binding) -> bool:
    """Whether whoever passes a binding of a branch passes the other one, too."""
    return binding.block.owner is not None and binding.block.parent is not None and other.block.holds(binding.block)


def _contradicts(known: _Known, other: Binding) -> bool:
    """Whether what is bound beside it is not what the way to the use says: `DataLoader(...)` is not None."""
    if other.block.owner is None or other.kind != "assign":
        return False
    if known.is_set:
        return _is_none(other.value) or (isinstance(other.value, ast.Constant) and other.value.value is False)
    if isinstance(other.value, ast.Constant):
        return other.value.value is True
    # A call may give None; one of a class does not.
    return isinstance(other.value, ast.Call) and dotted(other.value.func).rpartition(".")[2][:1].isupper()


def _is_none(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
