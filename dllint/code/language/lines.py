"""What a function does, by lines: a loop finds what stands in it without going through all the rest."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

_Item = TypeVar("_Item")


class ByLine(Generic[_Item]):
    """Items of one function, each with the node that tells where it stands."""

    def __init__(self, items: Iterable[_Item], node_of: Callable[[_Item], ast.AST]) -> None:
        self._items = list(items)
        placed = sorted((getattr(node_of(item), "lineno", 0), number) for number, item in enumerate(self._items))
        self._lines = [line for line, _ in placed]
        self._numbers = [number for _, number in placed]

    def within(self, around: ast.AST) -> list[_Item]:
        """The items on the lines of a node, in the order in which they were given."""
        first = bisect_left(self._lines, getattr(around, "lineno", 0))
        last = bisect_right(self._lines, getattr(around, "end_lineno", 0))
        return [self._items[number] for number in sorted(self._numbers[first:last])]
