"""Notebooks (.ipynb): the code cells as one Python text in their order, and where each line of it stands.

A place in a notebook is a cell (counted from 1, Markdown cells included, as ruff counts), and a row in it. Formats that
only know files are given the place in the JSON text, which is what a diff shows.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from dllint.finding import Location
from dllint.patterns import pattern
from dllint.records import replace
from dllint.syntax.magics import as_python, shell_of
from dllint.syntax.python import LINE_END, CannotParseError, Source

_LARGEST = 100_000_000
_BLANK = pattern(r"[ \t\r\n]*")
_ESCAPE = pattern(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL)
"""One character of a text as JSON writes it."""


class _Piece(NamedTuple):
    """A JSON string of a cell's source: where it begins in the cell's text, and in the file's."""

    start: int
    raw: int


class _Cell(NamedTuple):
    number: int
    text: str
    pieces: list[_Piece]


class _Line(NamedTuple):
    """Where a line of the Python text comes from."""

    cell: _Cell
    row: int
    start: int
    """Where it begins in the cell's text."""


class Notebook(Source):
    """The code of a notebook as Python. `broken` are the cells that are none: they are left out."""

    def __init__(self, path: str, data: bytes) -> None:
        """Raises CannotParseError, with a place in the JSON text, for what is no notebook."""
        self._raw = _decoded(data)
        self._lines: list[_Line] = []
        self.broken: list[CannotParseError] = []
        self._cells: list[str] = []
        texts = [self._python(cell) for cell in _cells(self._raw)]
        super().__init__(path, "\n".join(texts).encode("utf-8", "replace"))

    def _python(self, cell: _Cell) -> str:
        first = len(self._lines) + 1
        starts = [0, *(end.end() for end in LINE_END.finditer(cell.text))]
        self._lines += [_Line(cell, row, start) for row, start in enumerate(starts, 1)]
        plain = LINE_END.sub("\n", cell.text)
        self._cells.append(plain)
        text = as_python(plain)
        if text is None:
            self.broken.append(CannotParseError(_reason(plain), first))
            return "\n" * plain.count("\n")
        return text

    @cached_property
    def shell(self) -> str:
        """What its cells give to a shell, in the rows and columns of the Python text."""
        return "\n".join(map(shell_of, self._cells))

    def placed(self, place: Location) -> Location:
        """A place in the Python text as one in the notebook."""
        if place.cell or not 0 < place.row <= len(self._lines):
            return place
        start, end = self._lines[place.row - 1], self._lines[min(place.end_row, len(self._lines)) - 1]
        raw = (*self._in_json(start, place.column), *self._in_json(end, place.end_column))
        return replace(place, row=start.row, end_row=end.row, cell=start.cell.number, raw=raw)

    def text_at(self, place: Location) -> str:
        """The line of a cell that a place begins in."""
        lines = (line for line in self._lines if (line.cell.number, line.row) == (place.cell, place.row))
        line = next(lines, None)
        return LINE_END.split(line.cell.text[line.start :], maxsplit=1)[0] if line is not None else ""

    def _in_json(self, line: _Line, column: int) -> tuple[int, int]:
        wanted = line.start + column - 1
        pieces = line.cell.pieces
        piece = pieces[max(bisect_right(pieces, wanted, key=lambda piece: piece.start) - 1, 0)]
        at = piece.raw
        for _ in range(wanted - piece.start):
            if self._raw.startswith('"', at):  # the end of a line without an end
                break
            found = _ESCAPE.match(self._raw, at)
            at = found.end() if found else at
        return self._raw.count("\n", 0, at) + 1, at - self._raw.rfind("\n", 0, at)


def _reason(text: str) -> str:
    try:
        compile(text, "cell", "exec", dont_inherit=True)
    except SyntaxError as error:
        return error.msg or "invalid syntax"
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error) or "nested too deeply"
    return "invalid syntax"


def _decoded(data: bytes) -> str:
    if len(data) > _LARGEST:
        raise CannotParseError(f"larger than {_LARGEST // 1_000_000} MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise CannotParseError(f"not decodable as utf-8 ({error.reason})", row) from None


# --- JSON, with the places of texts ---


class _Reader:
    """Walks a JSON text: `members` and `items` stop at each value, which is then to be read."""

    _decoder = json.JSONDecoder(strict=False)

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.blank()

    def blank(self) -> None:
        found = _BLANK.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def is_at(self, sign: str) -> bool:
        return self.text.startswith(sign, self.at)

    def value(self) -> Any:
        """The whole value that stands here."""
        found, self.at = self._decoder.raw_decode(self.text, self.at)
        self.blank()
        return found

    def take(self, sign: str) -> None:
        if not self.is_at(sign):
            raise json.JSONDecodeError(f"Expecting {sign!r}", self.text, self.at)
        self.at += 1
        self.blank()

    def members(self) -> Iterator[str]:
        """The keys of the object that stands here."""
        for _ in self._inside("{", "}"):
            key = self.value()
            self.take(":")
            yield str(key)

    def items(self) -> Iterator[None]:
        """The values of the list that stands here."""
        yield from self._inside("[", "]")

    def _inside(self, begin: str, end: str) -> Iterator[None]:
        self.take(begin)
        more = not self.is_at(end)
        while more:
            yield
            more = self.is_at(",")
            if more:
                self.take(",")
        self.take(end)


def _cells(text: str) -> list[_Cell]:
    """The Python cells. Raises CannotParseError for a text that is no notebook; an empty one is a new notebook."""
    if not text.strip():
        return []
    reader = _Reader(text)
    try:
        found = list(_document(reader))
        if reader.at < len(text):
            raise json.JSONDecodeError("Extra data", text, reader.at)
    except json.JSONDecodeError as error:
        raise CannotParseError(f"not valid JSON: {error.msg}", error.lineno, error.colno) from None
    except RecursionError:
        raise CannotParseError("nested too deeply") from None
    except ValueError:
        raise CannotParseError("not valid JSON: a number has too many digits") from None
    return found


def _document(reader: _Reader) -> Iterator[_Cell]:
    """The cells of a notebook of format 4, or of an older one, which has them on worksheets."""
    found: list[_Cell] = []
    python = True
    counted = 0
    for key in reader.members():
        if key == "cells" and reader.is_at("["):
            counted += _read_cells(reader, counted, found)
        elif key == "worksheets" and reader.is_at("["):
            for _ in reader.items():
                for inner in reader.members():
                    if inner == "cells" and reader.is_at("["):
                        counted += _read_cells(reader, counted, found)
                    else:
                        reader.value()
        elif key == "metadata":
            python = _is_python(reader.value())
        else:
            reader.value()
    return iter(found if python else ())


def _read_cells(reader: _Reader, before: int, found: list[_Cell]) -> int:
    """Add the Python cells of the list that stands here to `found`; how many cells there are."""
    number = 0
    for number, _ in enumerate(reader.items(), 1):
        cell = _cell(reader, before + number)
        if cell is not None:
            found.append(cell)
    return number


def _cell(reader: _Reader, number: int) -> _Cell | None:
    if not reader.is_at("{"):
        reader.value()
        return None
    about: dict[str, Any] = {}
    text, pieces = "", [_Piece(0, reader.at)]
    for key in reader.members():
        if key in ("source", "input"):  # `input` before format 4
            text, pieces = _source(reader)
        else:
            value = reader.value()
            about[key] = value if key in ("cell_type", "language", "metadata") else None
    if about.get("cell_type") != "code" or not _is_python({"kernelspec": about, **_other_language(about)}):
        return None
    return _Cell(number, text, pieces or [_Piece(0, reader.at)])


def _source(reader: _Reader) -> tuple[str, list[_Piece]]:
    if not reader.is_at("["):
        start = reader.at + 1
        text = reader.value()
        return (text, [_Piece(0, start)]) if isinstance(text, str) else ("", [])
    texts: list[str] = []
    pieces: list[_Piece] = []
    length = 0
    for _ in reader.items():
        start = reader.at + 1
        text = reader.value()
        if isinstance(text, str):
            pieces.append(_Piece(length, start))
            texts.append(text)
            length += len(text)
    return "".join(texts), pieces


def _other_language(about: dict[str, Any]) -> dict[str, Any]:
    """The language that an editor gives to a single cell."""
    metadata = about.get("metadata")
    code = metadata.get("vscode") if isinstance(metadata, dict) else None
    return {"language_info": {"name": code.get("languageId")}} if isinstance(code, dict) else {}


def _is_python(metadata: object) -> bool:
    """Whether metadata names Python as the language, or none."""
    if not isinstance(metadata, dict):
        return True
    for key, inner in (("kernelspec", "language"), ("language_info", "name")):
        about = metadata.get(key)
        language = about.get(inner) if isinstance(about, dict) else None
        if isinstance(language, str) and not language.lower().startswith(("python", "ipython")):
            return False
    return True
