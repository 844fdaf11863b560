"""Data sets of Hugging Face: what is set on them in place, and which of them are streamed.

By the documentation of datasets: `set_transform` of a DatasetDict sets it on each split, and picking rows keeps what is
set; what an IterableDataset is given by `map` and `filter` runs where its rows are asked for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language.values import Const, Derived, Frame, Product, Value

if TYPE_CHECKING:
    from dllint.code.program import Program

_Step = tuple[str, int | str | None, int]
"""How it was got, by which index, and at which call."""

_PICKS = frozenset({"[]", ".select()", ".shuffle()", ".shard()", ".train_test_split()"})
"""Steps that give rows with what was set on all of them."""
_RUN_LATER = frozenset({".map()", ".filter()"})
_SET = frozenset({".with_transform()", ".set_transform()"})


def made_by(value: Value) -> Product | None:
    """The call of the datasets library that a value comes from."""
    origin = value.origin if isinstance(value, Derived) else value
    return origin if isinstance(origin, Product) and origin.name.startswith("datasets.") else None


def is_made_at_once(value: Product) -> bool:
    """Whether all rows are made right then: `Dataset.from_generator(rows)` calls what it is given in main."""
    return value.name.startswith("datasets.Dataset.from_")


def keeps_function(program: Program, value: Derived) -> bool:
    """Whether a method's result runs the function that it was given whenever a row is read: `map` is mostly over."""
    return value.via in _SET or (value.via in _RUN_LATER and _is_streamed(program, value))


def _is_streamed(program: Program, value: Derived) -> bool:
    origin = made_by(value)
    if origin is None:
        return False
    if origin.name.startswith("datasets.IterableDataset.") or any(
        step.via == ".to_iterable_dataset()" for step in value.chain()
    ):
        return True
    given = [keyword.value for keyword in origin.node.keywords if keyword.arg == "streaming"]
    found = [v for node in given for v in program.evaluator.values(node, origin.frame)]
    return bool(found) and all(isinstance(v, Const) and v.value is True for v in found)


def set_in_place(program: Program, value: Value, method: str) -> Iterator[tuple[ast.Call, Frame]]:
    """The calls such as `rows.set_transform(function)` that hold for a data set."""
    origin = made_by(value)
    if origin is None:
        return
    module = origin.frame.scope.module
    if method.encode() not in module.data or b"reset_format" in module.data:
        return
    wanted = _steps(value)
    for call, scope in module.calls_of(method):
        if isinstance(call.func, ast.Attribute):
            holders = program.evaluator.values(call.func.value, Frame(scope))
            if any(made_by(one) is origin and _covers(_steps(one), wanted) for one in holders):
                yield call, Frame(scope)


def _steps(value: Value) -> list[_Step]:
    """The steps from the origin to a value; picking by an index is one step, wherever it is written."""
    chain = list(value.chain())[::-1] if isinstance(value, Derived) else []
    return [(step.via, step.index, 0 if step.via == "[]" else id(step.node)) for step in chain]


def _covers(holder: list[_Step], wanted: list[_Step]) -> bool:
    """Whether what is set on one data set holds for another: the same, or rows picked of it."""
    if len(holder) > len(wanted):
        return False
    same = all(mine == other or _is_each(mine, other) for mine, other in zip(holder, wanted, strict=False))
    return same and all(via in _PICKS for via, _, _ in wanted[len(holder) :])


def _is_each(mine: _Step, other: _Step) -> bool:
    """Whether a step picks by an index that is not known: `for split in data: data[split].set_transform(...)`."""
    return mine[0] == other[0] == "[]" and mine[1] is None
