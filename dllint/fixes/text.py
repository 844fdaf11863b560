"""The text of one Python file, to be edited. It keeps its encoding, its byte order mark and its line ends."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterable, Sequence

from dllint.finding import Edit, Fix
from dllint.syntax.offsets import Offsets
from dllint.syntax.python import CannotParseError, Source, parse

_Replacement = tuple[int, int, str]
"""Where it begins, where it ends (as offsets), and what comes there instead."""


class Text:
    """A file's text, and its bytes after each fix."""

    def __init__(self, path: str, data: bytes, encoding: str) -> None:
        self.path = path
        self.data = data
        self._encoding = encoding

    @classmethod
    def of(cls, path: str, data: bytes) -> Text | None:
        """The text of a file; None if it cannot be decoded, and so not be given back as it was."""
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
            exact = data.decode(encoding).encode(encoding) == data
        except (SyntaxError, ValueError):
            return None
        return cls(path, data, encoding) if exact else None

    def apply(self, fixes: Iterable[Fix]) -> int:
        """Apply the fixes that do not overlap, first come first served by position; how many these were.

        A fix after which the file would not parse is left out.
        """
        offsets = Offsets(self.data.decode(self._encoding))
        chosen = _without_overlaps([_replacements(fix, offsets) for fix in fixes if self._is_here(fix)])
        # From the end: what is edited there moves nothing that stands before.
        return sum(self._apply_one(replacements) for replacements in reversed(chosen))

    def _is_here(self, fix: Fix) -> bool:
        return bool(fix.edits) and all(edit.location.path == self.path for edit in fix.edits)

    def _apply_one(self, replacements: Sequence[_Replacement]) -> bool:
        text = self.data.decode(self._encoding)
        for start, end, new in reversed(replacements):
            text = text[:start] + new + text[end:]
        try:
            data = text.encode(self._encoding)
            parse(Source(self.path, data))
        except (CannotParseError, UnicodeEncodeError):
            return False
        changed = data != self.data
        self.data = data
        return changed


def _replacements(fix: Fix, offsets: Offsets) -> list[_Replacement]:
    def replacement(edit: Edit) -> _Replacement:
        return (*offsets.span(edit.location), edit.text)

    return sorted(replacement(edit) for edit in fix.edits)


def _without_overlaps(candidates: list[list[_Replacement]]) -> list[list[_Replacement]]:
    """Those that lie wholly behind the ones before them; the others have their turn in the next pass."""
    kept: list[list[_Replacement]] = []
    reached = -1
    for candidate in sorted(candidates):
        start, end, _ = candidate[0]
        if start > reached or start == reached < end:  # of two insertions at one place only the first
            kept.append(candidate)
            reached = candidate[-1][1]
    return kept
