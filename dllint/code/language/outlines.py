"""What the bytes of a file tell before anybody parses it.

Most files of a large project are only ever looked at in this way, so that their outlines are what a run takes its time
for. They need little room: other processes can make them, and their files are then not even read in this one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dllint.code.language.watched import GATES, UNKNOWN_ENCODING
from dllint.files import content_of
from dllint.parallel import shared_out
from dllint.patterns import pattern
from dllint.syntax.python import has_unknown_encoding

_NAME = pattern(rb"\w+(?=[ \t]*[\[(:])")
_CLASS = pattern(rb"class[ \t]+(\w+)[ \t]*\(([^)]*)\)?")
_BASE = pattern(rb"(?<![\w.])([\w.]+)\s*(?:\[[^\[\]]*\]\s*)?(?=,|$|\()")
_CONTINUED = (b"\\\n", b"\\\r\n")
_MOST_IN_BRACKETS = 10_000
"""Bytes of an import statement in brackets."""
_IDENTIFIER = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_").union(range(128, 256))
_WORD = pattern(rb"[\w\x80-\xff]+")
_BETWEEN_WORDS = bytes(byte if byte in _IDENTIFIER else ord(" ") for byte in range(256))
"""Makes a space of every byte that no identifier holds."""


class Outline(NamedTuple):
    """What is asked of the bytes of every file."""

    size: int
    held: frozenset[bytes]
    """The watched texts that stand in the file."""
    class_bases: list[tuple[str, tuple[str, ...]]]
    """(class, last names of its bases) as the bytes have them: quick, and good enough to choose what to parse."""


def outline(data: bytes) -> Outline:
    """The outline of a file with this content."""
    return Outline(len(data), frozenset(_held(data)), class_bases(data))


def _held(data: bytes) -> Iterator[bytes]:
    for gate, texts in GATES.items():
        if gate in data:
            yield gate
            yield from (text for text in texts if text in data)
    if has_unknown_encoding(data):
        yield UNKNOWN_ENCODING


def outlines(paths: Sequence[str], shares: int) -> list[Outline | None]:
    """The outline of each file; None for one that cannot be read.

    The files are shared out over so many processes, this one among them. None keeps what it has read: most files are
    never asked for again, and to fill fresh memory takes longer than to read a file twice.
    """
    parts = shared_out(lambda number: list(map(_outline_of, paths[number::shares])), shares)
    return [parts[number % shares][number // shares] for number in range(len(paths))]


def _outline_of(path: str) -> Outline | None:
    data = _content(path)
    return None if data is None else outline(data)


def _content(path: str) -> bytes | None:
    try:
        return content_of(path)
    except OSError:
        return None


def class_bases(data: bytes) -> list[tuple[str, tuple[str, ...]]]:
    """The class statements with bases in `data`: (name, last names of the bases)."""
    found = []
    at = data.find(b"class ")
    while at >= 0:
        match = _CLASS.match(data, at)
        if match and (at == 0 or data[at - 1] in b"\r\n \t"):
            bases = _BASE.findall(match.group(2))
            names = tuple(base.rpartition(b".")[2].decode("ascii", "replace") for base in bases)
            if names:
                found.append((match.group(1).decode("ascii", "replace"), names))
        at = data.find(b"class ", at + 6)
    return found


def import_statements(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The import statements in `data`: (`from` or `import`, the rest of the line)."""
    at = data.find(b"import")
    while at >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        while data.endswith(_CONTINUED, 0, start):
            start = data.rfind(b"\n", 0, start - 1) + 1
        end = data.find(b"\n", at)
        words = data[start : end if end >= 0 else len(data)].split(None, 1)
        if len(words) == 2 and words[0] in (b"from", b"import"):
            yield words[0], words[1].partition(b"#")[0] + _rest_in_brackets(data, words[1], end)
        at = data.find(b"import", end) if end >= 0 else -1


def _rest_in_brackets(data: bytes, line: bytes, end: int) -> bytes:
    """The further lines of `from package import (`."""
    if end < 0 or b"(" not in line or b")" in line:
        return b""
    close = data.find(b")", end, end + _MOST_IN_BRACKETS)
    return data[end:close] if close >= 0 else b""


def defined_names(data: bytes) -> Iterator[bytes]:
    """The names after `def` and `class` in `data`."""
    for word in (b"def ", b"class "):
        at = data.find(word)
        while at >= 0:
            start = at + len(word)
            match = _NAME.match(data, start)
            if match:
                yield match.group()
            at = data.find(word, start)


def words(data: bytes) -> frozenset[bytes]:
    """All identifiers and other words in `data`, those of comments and texts included."""
    return frozenset(data.translate(_BETWEEN_WORDS).split())


def places(data: bytes) -> dict[bytes, list[int]]:
    """Where each identifier or other word stands in `data`."""
    found: dict[bytes, list[int]] = {}
    for match in _WORD.finditer(data):
        found.setdefault(match[0], []).append(match.start())
    return found


def occurrences(data: bytes, word: bytes) -> Iterator[int]:
    """Where `word` stands in `data` as a whole identifier."""
    at = data.find(word)
    while at >= 0:
        end = at + len(word)
        if not (at and data[at - 1] in _IDENTIFIER) and not (end < len(data) and data[end] in _IDENTIFIER):
            yield at
        at = data.find(word, end)
