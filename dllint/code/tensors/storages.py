"""Tensor storages that a dataset carries into its workers, and how many there are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language.containers import filled_later
from dllint.code.language.links import parent, scope_of
from dllint.code.language.loops import loop_around, turns
from dllint.code.language.values import Collection, Const, Derived, Frame, Product, Value, Values
from dllint.code.tensors import counting as tensors
from dllint.code.workers.state import Item
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)
_SAME_MODEL = frozenset({".eval()", ".to()", ".cpu()", ".float()", ".half()", ".requires_grad_()", ".train()"})


@dataclass(frozen=True, slots=True)
class Storages:
    """Separate tensor storages in one place: `each` of them, times `turns` (None: as often as there are samples)."""

    what: str
    node: ast.AST
    frame: Frame
    each: int
    turns: int | None

    @property
    def total(self) -> int | None:
        """How many there are; None if they grow with the data."""
        return None if self.turns is None else self.each * self.turns


def of_item(program: Program, item: Item) -> Iterator[Storages]:
    """The storages that one attribute holds, or that one statement adds to it."""
    if item.path.endswith("[]"):
        if item.write.element:
            yield from _in_loop(program, (item.value,), item.write.node, item.frame)
        return
    model = _model(program, item.value)
    if model is not None:
        yield Storages("a model", item.write.node, item.frame, model, 1)
    elif tensors.maker(item.value) is not None:
        yield Storages("a tensor", item.write.node, item.frame, 1, 1)
    else:
        yield from of_value(program, item.value)


def of_value(program: Program, value: Value) -> Iterator[Storages]:
    """The storages in a container that a comprehension makes, or that a loop fills."""
    if not isinstance(value, Collection) or value.kind == "generator":
        return
    if value.each is not None and isinstance(value.node, _COMPREHENSIONS):
        yield from _repeated(program, value.each, value.node, value.node, value.frame)
    elif value.each is None:
        for binding in filled_later(value):
            yield from _in_loop(program, program.evaluator.bound(binding, value.frame), binding.node, value.frame)


def _in_loop(program: Program, values: Values, node: ast.AST, frame: Frame) -> Iterator[Storages]:
    loop = loop_around(node)
    if loop is not None and not isinstance(loop, ast.While):
        yield from _repeated(program, values, loop, node, frame)


def _repeated(program: Program, values: Values, loop: ast.AST, node: ast.AST, frame: Frame) -> Iterator[Storages]:
    each = tensors.count(program, values)
    if each and all(_is_made_in(value, loop) for value in values):
        yield Storages("tensors", node, frame, each, turns(program, loop, frame))


def _is_made_in(value: Value, loop: ast.AST) -> bool:
    """Whether a tensor is made anew in each turn of a loop: within it, or in a function that it calls."""
    made = tensors.maker(value)
    if made is None or scope_of(made) is not scope_of(loop):
        return True
    at: ast.AST | None = made
    while at is not None and at is not loop:
        at = parent(at)
    return at is loop


def _model(program: Program, value: Value) -> int | None:
    """How many tensors a library's model has, where that is known."""
    if isinstance(value, Derived):
        if any(step.via not in _SAME_MODEL for step in value.chain()):
            return None
        value = value.origin
    if not isinstance(value, Product):
        return None
    if value.name == "torch.hub.load" and len(value.node.args) > 1:
        named = program.evaluator.values(value.node.args[1], value.frame)
        counts = [apis.MODELS.get(f"torchvision.models.{v.value}") for v in named if isinstance(v, Const)]
        return counts[0] if len(counts) == 1 else None
    return apis.MODELS.get(value.name)
