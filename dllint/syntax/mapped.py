"""Text that was cut out of another text and put together: every character knows where it came from."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable


class Mapped:
    """A text, and for each of its characters the offset in the text that it was taken from."""

    __slots__ = ("_origins", "_starts", "text")

    def __init__(self, text: str, origin: int = 0) -> None:
        self.text = text
        self._starts = [0]
        self._origins = [origin]

    def origin(self, index: int) -> int:
        """Where a character came from."""
        piece = bisect_right(self._starts, index) - 1
        return self._origins[piece] + index - self._starts[piece]

    def piece_end(self, index: int) -> int:
        """The index behind the last character that follows on this one in the original, too."""
        piece = bisect_right(self._starts, index)
        return self._starts[piece] if piece < len(self._starts) else len(self.text)

    def cut(self, start: int, end: int | None = None) -> Mapped:
        """The text between two of its indices."""
        end = len(self.text) if end is None else min(end, len(self.text))
        found = Mapped(self.text[start:end], self.origin(start))
        for piece in range(bisect_right(self._starts, start), bisect_right(self._starts, end - 1)):
            found._starts.append(self._starts[piece] - start)
            found._origins.append(self._origins[piece])
        return found

    def replaced(self, text: str) -> Mapped:
        """Another text of the same length in its place."""
        found = Mapped(text)
        found._starts, found._origins = self._starts, self._origins
        return found


def joined(parts: Iterable[Mapped]) -> Mapped:
    """The texts one behind the other."""
    found = Mapped("")
    texts: list[str] = []
    length = 0
    for part in parts:
        if not part.text:
            found._origins = part._origins[:1] if not length else found._origins
            continue
        if not length:
            found._starts, found._origins = [], []
        follows = bool(length) and part._origins[0] == found._origins[-1] + length - found._starts[-1]
        found._starts.extend(start + length for start in part._starts[follows:])
        found._origins.extend(part._origins[follows:])
        texts.append(part.text)
        length += len(part.text)
    found.text = "".join(texts)
    return found
