"""Python text -> tree, with exact positions.

The tree is the standard library's `ast`: it is parsed in C, and it is the very tree that flake8 hands to its plugins.
"""

from __future__ import annotations

import ast
import codecs
import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any

from dllint.finding import Location
from dllint.patterns import pattern
from dllint.syntax import newer

_LONGEST_LINE = 1_000
"""Characters of a line with an error that are searched for newer syntax."""
_TOO_MANY_DIGITS = "integer string conversion"
"""In what Python says of a number with thousands of digits, which is advice for the program that reads it."""
MAX_BYTES = 8_000_000
"""A larger file is generated; reading it as a tree would take seconds and gigabytes."""

_COOKIE = pattern(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_COOKIES_WITHIN = 400
"""Bytes at the start of a file that hold such a comment, if there is one."""
LINE_END = pattern("\r\n|\r|\n")


Data = bytes | Callable[[], bytes]
"""The content of a file, or what reads it when it is first needed."""


class CannotParseError(Exception):
    """A file that is no Python of this version: with the reason and, where known, the position (from 1)."""

    def __init__(self, reason: str, row: int = 1, column: int = 1, needs: tuple[int, int] | None = None) -> None:
        super().__init__(reason)
        self.needs = needs
        self.reason = reason
        self.row = row
        self.column = column


class Source:
    """The bytes of one file, and its text and lines when they are asked for."""

    def __init__(self, path: str, data: Data) -> None:
        self.path = path
        self._data = data

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        if not isinstance(self._data, bytes):
            self._data = self._data()
        return self._data

    @cached_property
    def text(self) -> str:
        """The decoded text, without a byte order mark; undecodable bytes become U+FFFD."""
        return self.data.decode(self._encoding(), "replace").removeprefix("\ufeff")

    @cached_property
    def lines(self) -> list[str]:
        """The lines as Python counts them, without their ends."""
        return LINE_END.split(self.text)

    def line(self, row: int) -> str:
        """Line `row` (from 1), or an empty string beyond the end."""
        return self.lines[row - 1] if 0 < row <= len(self.lines) else ""

    def _encoding(self) -> str:
        name = _declared(self.data)
        return name if name and _is_encoding(name) else "utf-8"

    def check_encoding(self) -> None:
        """Raise CannotParseError for bytes that the file's encoding does not have: `ast` overlooks them in comments."""
        if self.data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise CannotParseError("it is encoded in UTF-16, which Python does not read")
        if self.data.isascii():
            return
        encoding = self._encoding()
        try:
            self.data.decode(encoding)
        except UnicodeDecodeError as error:
            row = self.data.count(b"\n", 0, error.start) + 1
            column = error.start - self.data.rfind(b"\n", 0, error.start)
            raise CannotParseError(f"not decodable as {encoding} ({error.reason})", row, column) from None

    def column(self, row: int, offset: int) -> int:
        """The column (from 1, in characters) of an `ast` offset (from 0, in UTF-8 bytes)."""
        line = self.line(row)
        if line.isascii():
            return offset + 1
        return len(line.encode("utf-8", "surrogateescape")[:offset].decode("utf-8", "ignore")) + 1

    def location(self, node: ast.AST) -> Location:
        """Where a node that has a position stands."""
        placed: Any = node
        row, offset = placed.lineno, placed.col_offset
        end_row = getattr(node, "end_lineno", None) or row
        end_offset = getattr(node, "end_col_offset", None) or offset
        return Location(self.path, row, self.column(row, offset), end_row, self.column(end_row, end_offset))

    def header(self, node: ast.stmt) -> Location:
        """The first line of a compound statement (`class X(Y):`, `def f(a, b):`), up to its body."""
        whole = self.location(node)
        body = getattr(node, "body", None)
        last = max(whole.row, body[0].lineno - 1) if body else whole.end_row
        row = min(last, whole.end_row)
        line = self.line(whole.row)
        if row > whole.row and line.rstrip().endswith(":"):
            row = whole.row
        return Location(self.path, whole.row, whole.column, row, len(self.line(row)) + 1)


def has_unknown_encoding(data: bytes) -> bool:
    """Whether a file says of itself that it is in an encoding which there is not."""
    name = _declared(data) if b"coding" in data[:_COOKIES_WITHIN] else ""
    return bool(name) and not _is_encoding(name)


def _declared(data: bytes) -> str:
    """The encoding that a comment in the first two lines names; empty without one."""
    cookies = (_COOKIE.match(line) for line in data.split(b"\n", 2)[:2])
    return next((cookie.group(1).decode("ascii", "replace") for cookie in cookies if cookie), "")


def _is_encoding(name: str) -> bool:
    try:
        " ".encode(name)  # an empty text would not be looked at
    except (LookupError, ValueError):
        return False
    return True


def parse(source: Source, parsed: ast.Module | None = None) -> ast.Module:
    """The tree of `source`: `parsed`, where somebody has it already.

    Raises CannotParseError, and nothing else, whatever the bytes are.
    """
    if len(source.data) > MAX_BYTES:
        raise CannotParseError(f"larger than {MAX_BYTES // 1_000_000} MB")
    source.check_encoding()
    if parsed is not None:
        return parsed
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes are none of our business
            return ast.parse(source.data)
    except SyntaxError as error:
        row = max(error.lineno or 1, 1)
        reason, needs = error.msg or "invalid syntax", newer.needed(source.line(row)[:_LONGEST_LINE])
        if _TOO_MANY_DIGITS in reason:
            reason = "a number has more digits than Python reads, unless it is written in hexadecimal"
        raise CannotParseError(reason, row, max(error.offset or 1, 1), needs) from None
    except RecursionError:
        raise CannotParseError("nested too deeply") from None
    except MemoryError:
        raise CannotParseError("nested too deeply") from None
    except ValueError as error:  # NUL bytes, on the Python versions that raise no SyntaxError for them
        raise CannotParseError(str(error)) from None
