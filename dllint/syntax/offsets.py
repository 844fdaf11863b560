"""Between places as findings have them (rows and columns from 1, in characters) and offsets into a text."""

from __future__ import annotations

from bisect import bisect_right

from dllint.finding import Location
from dllint.syntax.python import LINE_END


class Offsets:
    """The places of one decoded text, whatever its line ends are."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(end.end() for end in LINE_END.finditer(text))]

    def span(self, location: Location) -> tuple[int, int]:
        """The offsets at which `location` begins and ends."""
        return self._offset(location.row, location.column), self._offset(location.end_row, location.end_column)

    def location(self, path: str, start: int, end: int) -> Location:
        """The place of the text from `start` up to `end`."""
        return Location(path, *self._place(start), *self._place(end))

    def _offset(self, row: int, column: int) -> int:
        return self._starts[row - 1] + column - 1

    def _place(self, offset: int) -> tuple[int, int]:
        row = bisect_right(self._starts, offset)
        return row, offset - self._starts[row - 1] + 1
