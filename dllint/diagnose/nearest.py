"""Lines that look like a signature and are none: what a log shows where nothing was recognised."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from dllint.diagnose.masking import masked
from dllint.diagnose.signatures import SIGNATURES
from dllint.patterns import pattern

_WORD = pattern(r"[A-Za-z]{3,}")
_OF_ANY_ERROR = pattern(r"errno|\w+error")
"""Words that say nothing: each exception of the system has them."""
_CLOSE = 0.5
_MOST = 3
_MOST_LOOKED_AT = 5_000
"""Logs are long; a line that would help stands among the first that look like something."""


class Near(NamedTuple):
    """A line, and the signature that it comes nearest to."""

    line: int
    text: str
    name: str


class Nearest:
    """Remembers the closest lines."""

    def __init__(self) -> None:
        self._found: list[tuple[float, Near]] = []
        self._seen: set[frozenset[str]] = set()
        self._vocabulary: list[tuple[str, frozenset[str]]] = []

    def consider(self, row: int, text: str) -> None:
        """Look at one line that no signature matched."""
        if len(self._seen) > _MOST_LOOKED_AT:
            return
        words = _words(text[:500])
        if len(words) < 2 or words in self._seen:
            return
        self._seen.add(words)
        self._vocabulary = self._vocabulary or list(_vocabulary())
        score, name = max((len(words & known) / len(known), name) for name, known in self._vocabulary)
        if score >= _CLOSE:
            self._found.append((score, Near(row, masked(text.strip()[:1000])[:500], name)))
            self._found.sort(key=lambda item: -item[0])
            del self._found[_MOST:]

    def best(self) -> list[Near]:
        """The closest lines, nearest first."""
        return [near for _, near in self._found]


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in map(str.lower, _WORD.findall(text)) if not _OF_ANY_ERROR.fullmatch(word))


def _vocabulary() -> Iterator[tuple[str, frozenset[str]]]:
    for signature in SIGNATURES:
        for part in signature.pattern.split("|"):
            words = _words(re.sub(r"\\[a-zA-Z]", " ", part))
            if len(words) >= 2:
                yield signature.name, words
