"""YAML text -> nodes, with exact positions. Nothing is constructed: a tag names a type, and is never obeyed."""

from __future__ import annotations

import io
from collections.abc import Iterator

import yaml
from yaml.nodes import Node

from dllint.syntax.python import CannotParseError

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The C parser is 15 times faster, and refuses deep nesting instead of running out of stack."""


class _NamedText(io.StringIO):
    """A text whose name the parser writes into the mark of each node."""

    name = ""


def documents(text: str, path: str = "") -> Iterator[Node]:
    """The root nodes of a file's documents; their marks are called `path`. Raises CannotParseError."""
    stream = _NamedText(text)
    stream.name = path
    try:
        for node in yaml.compose_all(stream, Loader=_LOADER):
            if node is not None:
                yield node
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        row, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        problem = getattr(error, "problem", None) or "not readable as YAML"
        raise CannotParseError(str(problem), row, column) from None
