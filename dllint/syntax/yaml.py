"""YAML text -> nodes, with exact positions. Nothing is constructed: a tag names a type, and is never obeyed."""

from __future__ import annotations

import io
from collections.abc import Iterator

import yaml
from yaml.nodes import MappingNode, Node, SequenceNode

from dllint.patterns import pattern
from dllint.syntax.python import CannotParseError

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The C parser is 15 times faster, and refuses deep nesting instead of running out of stack."""

_NAMED = pattern(r"[&*](?<![^\s:?,\[{][&*])[^\s&*,\[\]{}]")
"""What an anchor or alias looks like. It starts with its rarest characters: that is quickest."""
_BEFORE_VALUES = ":?,[{-"
_NEAR = 200
"""Characters before a name that tell whether a value may begin there."""


class _NamedText(io.StringIO):
    """A text whose name the parser writes into the mark of each node."""

    name = ""


def documents(text: str, path: str = "", row: int = 0) -> Iterator[Node]:
    """The root nodes of a file's documents; their marks are called `path`. Raises CannotParseError.

    `row` is the row, from 0, that a text starts in that is a piece of its file.
    """
    stream = _NamedText(text)
    stream.name = path
    try:
        for node in yaml.compose_all(stream, Loader=_LOADER):
            if node is not None:
                yield _moved(node, row) if row else node
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        row, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "not readable as YAML"
        raise CannotParseError(str(problem), row, column) from None


def is_well_formed(text: str) -> bool:
    """Whether YAML surely reads a text. It makes no nodes, and costs a fifteenth; of anchors and aliases, which only
    they show to be right, it knows nothing and says no."""
    parse = getattr(_LOADER, "raw_parse", None)
    if parse is None or any(_may_begin_value(text, found.start()) for found in _NAMED.finditer(text)):
        return False
    try:
        parse(_LOADER(text))
    except (yaml.YAMLError, ValueError):
        return False
    return True


def _may_begin_value(text: str, at: int) -> bool:
    """Whether a value may begin at an index: not within the words of a scalar, which may be `like *this*`."""
    near = text[max(0, at - _NEAR) : at]
    before = near.rstrip()
    begins_line = not before or near[len(before) :].strip(" \t") != ""
    return begins_line or before[-1] in _BEFORE_VALUES or before.split()[-1].startswith("!")


def _moved(root: Node, rows: int) -> Node:
    """A tree whose places are so many rows further down."""
    seen: set[int] = set()
    pending = [root]
    while pending:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        node.start_mark, node.end_mark = _down(node.start_mark, rows), _down(node.end_mark, rows)
        if isinstance(node, MappingNode):
            pending += [part for entry in node.value for part in entry]
        elif isinstance(node, SequenceNode):
            pending += node.value
    return root


def _down(mark: yaml.Mark, rows: int) -> yaml.Mark:
    return yaml.Mark(mark.name, mark.index, mark.line + rows, mark.column, None, 0)
