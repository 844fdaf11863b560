"""Which modules of a project hold which words: what most questions over a whole project begin with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from functools import cached_property

from dllint.code.language.modules import Module
from dllint.code.language.outlines import words

_FEW = 6
"""Words that are searched for one by one; for more, the files are taken apart once."""


class Mentions:
    """The modules that hold a word, for any word."""

    def __init__(self, modules: Collection[Module]) -> None:
        self._modules = modules
        self._known: dict[bytes, list[Module]] = {}

    def of(self, word: bytes) -> list[Module]:
        """The modules that hold an identifier, be it in a comment or a text, in the order of their files."""
        if word not in self._known:
            searches = len(self._known) < _FEW
            self._known[word] = [m for m in self._modules if m.holds(word)] if searches else self._by_word.get(word, [])
        return self._known[word]

    @cached_property
    def _by_word(self) -> dict[bytes, list[Module]]:
        found: defaultdict[bytes, list[Module]] = defaultdict(list)
        for module in self._modules:
            for word in words(module.data):
                found[word].append(module)
        return found
