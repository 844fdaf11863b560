"""HCL (Nomad jobs, docker-bake files, Terraform) -> blocks and values with their places. Expressions are not computed.

What cannot be read ends the reading: the blocks before it are kept.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from dllint.finding import Location
from dllint.patterns import pattern
from dllint.records import dataclass, field

_PLAIN = pattern(
    r"""(?P<space>[ \t\r]+|\#[^\n]*|//[^\n]*|/\*.*?(?:\*/|\Z))
    |(?P<heredoc><<-?(?P<tag>\w+)[ \t\r]*\n)
    |(?P<number>-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.]))
    |(?P<word>[A-Za-z_][\w.\-]*)
    |(?P<mark>.)""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}
_OPEN, _CLOSE = frozenset("[{("), frozenset("]})")
_DEEPEST = 50


class _Token(NamedTuple):
    kind: str
    """`string`, `heredoc`, `number`, `word`, or `mark`."""
    text: str
    start: int
    end: int
    known: bool = True


@dataclass(frozen=True, slots=True)
class Value:
    """One value. Exactly one of `text`, `items` and `pairs` is there, none for an expression."""

    at: Location
    text: str | None = None
    """Of a string, number, boolean or null."""
    items: tuple[Value, ...] | None = None
    pairs: dict[str, Value] | None = None
    source: str = ""
    """As it is written, on one line."""


@dataclass(frozen=True, slots=True)
class Block:
    """`kind "label" { ... }`."""

    kind: str
    labels: tuple[str, ...]
    at: Location
    """Its head, without the brace."""
    body: Body


@dataclass(slots=True)
class Body:
    """What stands between braces, or in a file."""

    attributes: dict[str, Value] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)

    def of(self, *kinds: str) -> Iterator[Block]:
        """The blocks of these kinds."""
        return (block for block in self.blocks if block.kind in kinds)

    def text(self, name: str) -> str | None:
        """The text of a scalar attribute; None where it is missing or an expression."""
        value = self.attributes.get(name)
        return value.text if value is not None else None

    def texts(self, name: str) -> list[str | None]:
        """The texts of a list's items; None for an expression."""
        value = self.attributes.get(name)
        return [item.text for item in value.items] if value is not None and value.items is not None else []


class _BrokenError(Exception):
    """Something that is no HCL."""


def parse(text: str, path: str) -> Body:
    """The blocks and attributes of a file that is shown as `path`, up to the first fault."""
    reader = _Reader(text, path)
    body = Body()
    with suppress(_BrokenError):
        reader.body(body, 0)
    return body


class _Reader:
    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self.path = path
        self.starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self.tokens = list(_tokens(text))
        self.next = 0

    # Tokens

    def peek(self) -> _Token | None:
        return self.tokens[self.next] if self.next < len(self.tokens) else None

    def skip_lines(self) -> None:
        while (token := self.peek()) is not None and token.text in ("\n", ",") and token.kind == "mark":
            self.next += 1

    def is_mark(self, *marks: str) -> bool:
        token = self.peek()
        return token is not None and token.kind == "mark" and token.text in marks

    def take(self) -> _Token:
        token = self.peek()
        if token is None:
            raise _BrokenError
        self.next += 1
        return token

    def at(self, start: int, end: int) -> Location:
        first, last = bisect_right(self.starts, start), bisect_right(self.starts, max(end - 1, start))
        return Location(self.path, first, start - self.starts[first - 1] + 1, last, end - self.starts[last - 1] + 1)

    # Structure

    def body(self, body: Body, depth: int) -> None:
        """Fill `body` up to the brace that closes it, or the end of the text."""
        while True:
            self.skip_lines()
            if self.peek() is None or self.is_mark("}"):
                return
            self.entry(body, depth)

    def entry(self, body: Body, depth: int) -> None:
        head = self.take()
        if head.kind not in ("word", "string") or depth > _DEEPEST:
            raise _BrokenError
        if self.is_mark("=", ":"):
            self.next += 1
            body.attributes[head.text] = self.value(depth)
            return
        labels, last = [], head
        while (token := self.peek()) is not None and token.kind in ("word", "string"):
            last = self.take()
            labels.append(last.text)
        if not self.is_mark("{"):
            raise _BrokenError
        self.next += 1
        inner = Body()
        body.blocks.append(Block(head.text, tuple(labels), self.at(head.start, last.end), inner))
        self.body(inner, depth + 1)
        if self.peek() is not None:
            self.next += 1

    def value(self, depth: int) -> Value:
        """The value that stands here; whatever is no literal by itself is an expression."""
        start = self.next
        found = self.literal(depth)
        token = self.peek()
        if found is not None and (token is None or self.is_mark("\n", ",", "]", "}")):
            return found
        self.next = start
        return self.expression()

    def literal(self, depth: int) -> Value | None:
        token = self.take()
        at = self.at(token.start, token.end)
        source = self.text[token.start : token.end]
        if token.kind in ("string", "heredoc", "number"):
            return Value(at, text=token.text if token.known else None, source=source)
        if token.text == "jsonencode" and self.is_mark("("):
            return self.argument(depth)
        if token.text in ("true", "false", "null"):
            return Value(at, text="" if token.text == "null" else token.text, source=source)
        if depth > _DEEPEST or token.kind != "mark":
            return None
        if token.text == "[":
            return Value(at, items=tuple(self.items(depth + 1)))
        return Value(at, pairs=self.pairs(depth + 1)) if token.text == "{" else None

    def argument(self, depth: int) -> Value | None:
        """The argument of `jsonencode(...)`: as JSON it is itself."""
        self.next += 1
        self.skip_lines()
        first = self.peek()
        found = self.literal(depth + 1)
        if found is None and first is not None and first.kind == "word":
            found = Value(self.at(first.start, first.end), source=first.text)
        self.skip_lines()
        if not self.is_mark(")"):
            return None
        self.next += 1
        return found

    def items(self, depth: int) -> Iterator[Value]:
        while True:
            self.skip_lines()
            if self.is_mark("]"):
                self.next += 1
                return
            yield self.value(depth)

    def pairs(self, depth: int) -> dict[str, Value]:
        inner = Body()
        self.body(inner, depth)
        self.take()
        return inner.attributes

    def expression(self) -> Value:
        """Pass over an expression: up to the end of its line outside of brackets."""
        first = self.take()
        depth = 1 if first.kind == "mark" and first.text in _OPEN else 0
        last = first
        while (token := self.peek()) is not None:
            is_mark = token.kind == "mark"
            if depth == 0 and is_mark and (token.text in "\n," or token.text in _CLOSE):
                break
            depth += is_mark and token.text in _OPEN
            depth -= is_mark and token.text in _CLOSE
            last = self.take()
        return Value(self.at(first.start, last.end), source=self.text[first.start : last.end])


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    while position < len(text):
        if text[position] == '"':
            token = _string(text, position)
            yield token
            position = token.end
            continue
        found = _PLAIN.match(text, position)
        assert found is not None
        kind = found.lastgroup or "mark"
        position = found.end()
        if found["heredoc"]:
            end = re.compile(rf"^[ \t]*{found['tag']}[ \t\r]*$", re.MULTILINE).search(text, position)
            body = text[position : end.start() if end is not None else len(text)]
            position = end.end() if end is not None else len(text)
            yield _Token("heredoc", body, found.start(), position, "${" not in body)
        elif kind != "space":
            yield _Token(kind, found[0], found.start(), position)


def _string(text: str, start: int) -> _Token:
    """A string in quotes; strings may stand in the templates of a string."""
    parts: list[str] = []
    position, depth, known = start + 1, 0, True
    while position < len(text) and text[position] != "\n":
        mark = text[position]
        if mark == "\\" and depth == 0:
            parts.append(_ESCAPES.get(text[position + 1 : position + 2], text[position : position + 2]))
            position += 2
            continue
        if mark == '"' and depth == 0:
            break
        if depth == 0 and text.startswith(("$${", "%%{"), position):
            parts.append(mark + "{")
            position += 3
            continue
        if text.startswith(("${", "%{"), position):
            known = False
            depth += 1
            position += 1
        elif depth and mark in "{}":
            depth += 1 if mark == "{" else -1
        parts.append(mark)
        position += 1
    return _Token("string", "".join(parts), start, min(position + 1, len(text)), known)
