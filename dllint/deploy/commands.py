"""Commands that the project's own files run: the words of each, with variables put in where their values are seen."""

from __future__ import annotations

from typing import NamedTuple

from dllint.deploy.texts import DeployFile
from dllint.finding import Location


class Word(NamedTuple):
    """One argument of a command."""

    text: str
    """With quotes removed and known variables put in."""
    at: Location
    """Where it is written; of a word out of a variable, where that got its value."""
    known: bool = True
    """Whether `text` is all of it: no part comes out of an unknown variable or a substitution."""


class Command(NamedTuple):
    """One simple command, from its first word on (assignments and `sudo` before it are gone)."""

    words: tuple[Word, ...]
    at: Location
    file: DeployFile
    folder: str
    """Absolute path of the folder that it is run in, as far as it can be told."""

    @property
    def texts(self) -> list[str]:
        """The words as texts."""
        return [word.text for word in self.words]
