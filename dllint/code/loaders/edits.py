"""Edits of a call's arguments that leave every other byte of the file as it is.

They are computed from the positions of `ast` and the text between two arguments, where nothing but white space, commas,
comments and parentheses can stand. So a plain run has them too, for JSON and editors, at no cost. A library of concrete
trees such as libcst would have to read the whole file again, and importing it takes as long as linting a small project.
"""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from dllint.code.language.modules import Module
from dllint.finding import Edit
from dllint.patterns import pattern
from dllint.syntax.offsets import Offsets

_COMMENT = r"#[^\r\n]*"
_COMMAS = pattern(rf"{_COMMENT}|,")
_OPENINGS = pattern(rf"{_COMMENT}|\(")
_BLANKS = pattern(r"[ \t\f]*")
_REST_OF_LINE = pattern(rf"[ \t\f]*(?:{_COMMENT})?(?=[\r\n])")
_LINE_BREAK = pattern("\r\n|\r|\n")


class Removal(NamedTuple):
    """The edit that takes out an argument."""

    edit: Edit
    loses_comment: bool


class CallEditor:
    """Makes edits of the arguments of one call."""

    def __init__(self, module: Module, call: ast.Call) -> None:
        self._module = module
        self._call = call
        self._offsets = Offsets(module.source.text)
        self._text = self._offsets.text

    def text_of(self, node: ast.AST) -> str:
        """The source of a node."""
        start, end = self._span(node)
        return self._text[start:end]

    def replace(self, node: ast.AST, text: str) -> Edit:
        """Put `text` in the place of a node."""
        return self._edit(*self._span(node), text)

    def remove(self, keyword: ast.keyword) -> Removal:
        """Take out a keyword argument with its comma, and with the line and the comment that it had for itself."""
        gap = self._gap(keyword)
        start, end, text = gap.after() if gap.comma_after >= 0 else gap.before()
        # A `#` in a string counts as well: better one fix too many that has to be asked for.
        lost = self._text.count("#", start, end) > text.count("#")
        return Removal(self._edit(start, end, text), lost)

    def _gap(self, keyword: ast.keyword) -> _Gap:
        start, end = self._span(keyword)
        spans = sorted(self._span(node) for node in (*self._call.args, *self._call.keywords))
        at = spans.index((start, end))
        opening = self._span(self._call.func)[1]
        if at == 0:
            opening = _marks(_OPENINGS, self._text, opening, start)[-1] + 1
        closing = self._span(self._call)[1] - 1
        previous = spans[at - 1][1] if at else opening
        following = spans[at + 1][0] if at + 1 < len(spans) else closing
        return _Gap(self._text, previous, start, end, following, is_last=at + 1 == len(spans))

    def _span(self, node: ast.AST) -> tuple[int, int]:
        return self._offsets.span(self._module.source.location(node))

    def _edit(self, start: int, end: int, text: str) -> Edit:
        return Edit(self._offsets.location(self._module.path, start, end), text)


class _Gap:
    """An argument, and the text between it and its neighbours (other arguments, or the parentheses)."""

    def __init__(self, text: str, previous: int, start: int, end: int, following: int, *, is_last: bool) -> None:
        self._text = text
        self._start = start
        self._end = end
        self._following = following
        self._is_last = is_last
        self._previous = previous
        self._comma_before = next(iter(_marks(_COMMAS, text, previous, start)), -1)
        self.comma_after = next(iter(_marks(_COMMAS, text, end, following)), -1)
        line = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
        self._line = line if not text[line:start].strip() else -1
        """Where the line begins, if nothing stands on it before the argument."""

    def after(self) -> tuple[int, int, str]:
        """What to replace, by what, for an argument with a comma behind it."""
        stop = self.comma_after + 1
        rest = _REST_OF_LINE.match(self._text, stop)
        if rest and self._line >= 0:
            line_break = _LINE_BREAK.match(self._text, rest.end())
            return self._line, line_break.end() if line_break else rest.end(), ""
        if (rest and self._comma_before >= 0) or (self._is_last and not rest):
            return self._after_neighbour(), stop, ""
        if rest:
            return self._start, stop if "#" in self._text[stop : self._following] else self._following, ""
        blanks = _BLANKS.match(self._text, stop)
        return self._start, blanks.end() if blanks else stop, ""

    def before(self) -> tuple[int, int, str]:
        """The same for the last argument, where the comma before it has to go."""
        rest = _REST_OF_LINE.match(self._text, self._end)
        stop = rest.end() if rest and self._line >= 0 else self._end
        if self._comma_before < 0:
            return self._start, stop, ""
        between = self._text[self._comma_before + 1 : self._start]
        if "#" not in between:
            return self._comma_before, stop, ""
        # A comment of the argument before: it stays, and what follows must not slip into it.
        return self._comma_before, stop, between.rstrip() if rest else between

    def _after_neighbour(self) -> int:
        """The end of what stands before the argument: a comma, a comment, or the opening parenthesis."""
        between = self._text[self._previous : self._start]
        if "#" in between:
            return self._start
        return self._previous + len(between.rstrip(" \t\f\r\n\\"))  # a backslash joins lines


def _marks(pattern: re.Pattern[str], text: str, start: int, end: int) -> list[int]:
    """Where the mark that `pattern` looks for stands between `start` and `end`, comments aside."""
    return [found.start() for found in pattern.finditer(text, start, end) if not found.group().startswith("#")]
