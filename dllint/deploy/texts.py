"""The files that may start a container: their text, lines and places."""

from __future__ import annotations

import codecs
import os
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from dllint.files import Kind, SourceFile
from dllint.finding import Location
from dllint.patterns import pattern
from dllint.syntax.mapped import Mapped
from dllint.syntax.offsets import Offsets

if TYPE_CHECKING:
    from dllint.syntax.dockerfile import Instruction
    from dllint.syntax.python import CannotParseError
    from dllint.syntax.tree import Tree

_KIND = pattern(rb"kind:(?<![^\n]kind:)[ \t]*([^\s#]*)")
"""The kind of an object, at the top of its document; a pattern that starts with plain text is searched for quickest."""
_NESTED = pattern(rb"apiVersion:(?<=[^\n]apiVersion:)")
_LINE_END = pattern("\r\n|\r|\n")


class Documents(NamedTuple):
    """What a YAML or JSON file holds."""

    trees: list[Tree]
    """Its documents; of a broken file those before the fault."""
    error: CannotParseError | None
    """Why the rest cannot be read. For a front end to raise if the file is recognisably its own."""


class DeployFile:
    """One file, decoded when its text is asked for."""

    def __init__(self, file: SourceFile, data: bytes) -> None:
        self.path = file.path
        """As shown to the user."""
        self.absolute = file.absolute
        self.kind: Kind = file.kind
        self.is_target = file.target
        self.explicit = file.explicit
        self.is_utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        """Whether a mark at its start says so."""
        self.data = data.decode("utf-16", "replace").encode("utf-8", "replace") if self.is_utf16 else data
        """The bytes; of a file in UTF-16 those that it has in UTF-8."""
        self._held: dict[bytes, bool] = {}
        """What all front ends look for in it."""

    @cached_property
    def folder(self) -> str:
        """The absolute path of the folder that holds it."""
        return os.path.dirname(self.absolute)

    @cached_property
    def name(self) -> str:
        """The last part of its path."""
        return os.path.basename(self.absolute)

    @cached_property
    def text(self) -> str:
        """The decoded text without a byte order mark; undecodable bytes become U+FFFD."""
        return self.data.decode("utf-8", "replace").removeprefix("\ufeff")

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends."""
        return _LINE_END.split(self.text) if "\r" in self.text else self.text.split("\n")

    @cached_property
    def documents(self) -> Documents:
        """Its documents as YAML or JSON, parsed once; none of a sound file that defines types alone."""
        from dllint.syntax.python import CannotParseError
        from dllint.syntax.tree import trees

        found: list[Tree] = []
        if self.defines_types_alone and (self.has(b"{{") or self.is_well_formed):
            return Documents(found, None)
        try:
            found.extend(trees(self.path, self._as_yaml))
        except CannotParseError as error:
            return Documents(found, error)
        return Documents(found, None)

    @cached_property
    def defines_types_alone(self) -> bool:
        """Whether it is a manifest of nothing but types of Kubernetes objects, which are long, and run nothing."""
        kinds = _KIND.findall(self.data)
        return bool(kinds) and all(kind == b"CustomResourceDefinition" for kind in kinds)

    @cached_property
    def nests_objects(self) -> bool:
        """Whether an object of Kubernetes may stand within another, or in a text of one."""
        return _NESTED.search(self.data) is not None

    @property
    def is_well_formed(self) -> bool:
        """Whether it can surely be read as YAML or JSON; far quicker than to read it."""
        from dllint.syntax.yaml import is_well_formed

        return is_well_formed(self._as_yaml)

    @property
    def _as_yaml(self) -> str:
        from dllint.syntax.jsonc import masked

        return masked(self.text) if self.kind is Kind.JSON else self.text

    @cached_property
    def instructions(self) -> list[Instruction]:
        """Its instructions as a Dockerfile, read once."""
        from dllint.syntax.dockerfile import instructions

        return instructions(self.text)

    @cached_property
    def offsets(self) -> Offsets:
        """Between rows with columns and offsets into the text."""
        return Offsets(self.text)

    def span_of(self, text: Mapped, start: int = 0) -> Location:
        """The place of a text that was cut out of this file, from one of its characters to the last that follows it."""
        first = text.origin(start)
        return self.offsets.location(self.path, first, max(text.origin(text.piece_end(start) - 1) + 1, first))

    def has(self, *words: bytes) -> bool:
        """Whether the file holds all these bytes."""
        return all(map(self._holds, words))

    def _holds(self, word: bytes) -> bool:
        if word not in self._held:
            self._held[word] = word in self.data
        return self._held[word]

    def at(self, row: int, column: int = 1, end_row: int | None = None, end_column: int | None = None) -> Location:
        """A place in it, from (row, column), counted from 1; without an end, up to the end of the row."""
        last = row if end_row is None else end_row
        if end_column is None:
            end_column = len(self.lines[last - 1].rstrip()) + 1 if 0 < last <= len(self.lines) else column + 1
        return Location(self.path, row, column, last, end_column)

    def line_at(self, row: int) -> Location:
        """The text of a row, without the space around it."""
        line = self.lines[row - 1] if 0 < row <= len(self.lines) else ""
        return self.at(row, len(line) - len(line.lstrip()) + 1)
