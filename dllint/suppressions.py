"""Comments that switch findings off: `# noqa`, `# noqa: DLL201,DLL5`, `# dllint: ignore[DLL201, shm-missing] reason`,
and `# dllint: ignore` for all of them.

A comment counts on any line of the construct that a finding spans, or alone on the lines above it.
`# dllint: skip-file` counts for the whole file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import cache
from typing import Protocol

from dllint.finding import Finding
from dllint.records import dataclass
from dllint.registry import expand
from dllint.rule import UnknownRuleError

_MARKS = (b"noqa", b"dllint:")
"""Bytes that a file must contain, in any case of letters, before it is worth looking for comments in it."""


@cache
def _directive() -> re.Pattern[str]:
    # Compiled when first needed: most runs meet no such comment. As in flake8, a `noqa:` without codes is a bare one;
    # so is `dllint: ignore`, as `type: ignore` is. Codes may follow without brackets, as behind `noqa`.
    return re.compile(
        r"#\s*(?:"
        r"(?P<skip>dllint:\s*skip-file)\b"
        r"|(?P<ignore>dllint:\s*ignore)(?![\w-])(?:\s*\[(?P<names>[^\]\n]*)\]|(?!\s*\[))"
        r"(?:\s*:?\s*(?P<listed>(?:DLL[0-9]+(?:[,\s]+|(?!\w)))+))?"
        r"|(?P<noqa>noqa)(?![\w-])(?:\s*:\s*(?P<codes>(?:(?:DLL|[A-Z]+[0-9]+)(?:[,\s]+|(?!\w)))+))?"
        r")",
        re.IGNORECASE,
    )


class Source(Protocol):
    """The text of a file, as far as suppressions need it."""

    @property
    def data(self) -> bytes:
        """The bytes of the file."""

    @property
    def lines(self) -> Sequence[str]:
        """Its decoded lines."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment, from its `#` to the end of its line. `alone` if nothing but space stands before it."""

    row: int
    column: int
    text: str
    alone: bool


@dataclass(frozen=True, slots=True)
class UnusedSuppression:
    """A code or name in a suppression that switched nothing off; the subject of DLL002."""

    path: str
    row: int
    column: int
    end_column: int
    selector: str
    known: bool
    """Whether any rule has this code or name."""


class _Selector:
    """One code, prefix or name inside a comment; `text` is None for a bare `# noqa`."""

    __slots__ = ("codes", "column", "row", "text", "used")

    def __init__(self, row: int, column: int, text: str | None) -> None:
        self.row = row
        self.column = column
        self.text = text
        self.codes = _codes(text) if text else frozenset()
        self.used = False

    def covers(self, code: str) -> bool:
        return self.text is None or code in self.codes


class Suppressions:
    """The suppressions of one file, from its decoded lines. In Python the tokenizer tells comments from strings.

    Without `noqa`, comments of that kind count for nothing.
    """

    def __init__(self, path: str, lines: Sequence[str], *, python: bool, noqa: bool = True) -> None:
        self.path = path
        self._noqa = noqa
        self.skip_file = False
        self._by_row: dict[int, list[_Selector]] = {}
        comments, self._statements = python_comments(lines) if python else (list(hash_comments(lines)), [])
        below: dict[int, int] = {}
        for comment in sorted(comments, key=lambda comment: -comment.row):
            if comment.alone:  # the first line under a stack of such comments is what they are about
                below[comment.row] = below.get(comment.row + 1, comment.row + 1)
        for comment in comments:
            self._add(comment, below)

    def _add(self, comment: Comment, below: dict[int, int]) -> None:
        selectors: list[_Selector] = []
        for found in _directive().finditer(comment.text):
            if found["skip"]:
                self.skip_file = True
            elif self._noqa or found["ignore"]:
                selectors.extend(_selectors(found, comment))
        if not selectors:
            return
        for row in {comment.row, below.get(comment.row, comment.row)}:
            self._by_row.setdefault(row, []).extend(selectors)

    def covers(self, finding: Finding) -> bool:
        """Whether `finding` is switched off; remembers what did it."""
        if self.skip_file:
            return True
        hits = [selector for row in self._rows(finding) for selector in self._by_row.get(row, ())]
        hits = [selector for selector in hits if selector.covers(finding.code)]
        for selector in hits:
            selector.used = True
        return bool(hits)

    def _rows(self, finding: Finding) -> Iterable[int]:
        first, last = finding.location.row, max(finding.location.row, finding.location.end_row)
        for start, end in self._statements:
            if start <= first <= end or start <= last <= end:
                first, last = min(first, start), max(last, end)
        return range(first, last + 1)

    def unused(self, ran: set[str]) -> Iterator[UnusedSuppression]:
        """What switched nothing off, judged among the codes of the rules that `ran`. Ask after all findings."""
        selectors = {id(selector): selector for row in self._by_row.values() for selector in row}
        for selector in selectors.values():
            if selector.used or selector.text is None or not selector.codes <= ran:
                continue
            end = selector.column + len(selector.text)
            known = bool(selector.codes)
            yield UnusedSuppression(self.path, selector.row, selector.column, end, selector.text, known)


def _selectors(found: re.Match[str], comment: Comment) -> Iterator[_Selector]:
    group = "codes"
    if found["ignore"]:
        group = "names" if found["names"] is not None else "listed"
    if found[group] is None:
        yield _Selector(comment.row, comment.column + found.start(), None)
        return
    for word in re.finditer(r"[^\s,]+", found[group]):
        if group == "names" or word[0].upper().startswith("DLL"):
            yield _Selector(comment.row, comment.column + found.start(group) + word.start(), word[0])


def _codes(selector: str) -> frozenset[str]:
    try:
        return frozenset(rule.code for rule in expand(selector))
    except UnknownRuleError:
        return frozenset()


# --- comments ---


def python_comments(lines: Sequence[str]) -> tuple[list[Comment], list[tuple[int, int]]]:
    """The comments of a Python file, and the first and last row of each statement line that goes over several rows.

    Where the file is broken, the rest of it is read as `hash_comments` does.
    """
    import tokenize

    comments: list[Comment] = []
    statements: list[tuple[int, int]] = []
    plain = [_without_end(line) for line in lines]
    source = iter([line + "\n" for line in plain])
    row = start = 0
    try:
        for token in tokenize.generate_tokens(lambda: next(source, "")):
            row = token.end[0]
            if token.type == tokenize.COMMENT:
                comments.append(_comment(row, token.start[1], plain[row - 1]))
            elif token.type == tokenize.NEWLINE:
                if start and row > start:
                    statements.append((start, row))
                start = 0
            elif not start and token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT):
                start = token.start[0]
    except (tokenize.TokenError, SyntaxError, ValueError):
        comments.extend(comment for comment in hash_comments(plain) if comment.row > row)
    return comments, statements


def hash_comments(lines: Iterable[str]) -> Iterator[Comment]:
    """Comments in a language where a `#` outside of quotes, at the start of a line or after a space, begins one."""
    for row, line in enumerate(lines, 1):
        text = _without_end(line)
        column = _hash_column(text) if "#" in text else None
        if column is not None:
            yield _comment(row, column, text)


def _comment(row: int, column: int, line: str) -> Comment:
    return Comment(row, column + 1, line[column:], alone=not line[:column].strip("\ufeff \t\f"))


def _hash_column(text: str) -> int | None:
    quote = ""
    for column, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter == "#" and (column == 0 or text[column - 1] in "\ufeff \t"):
            return column
    return None


def _without_end(line: str) -> str:
    return line.rstrip("\r\n")


class Applied:
    """The suppressions of some files, read only where there is something to suppress."""

    def __init__(
        self, source: Callable[[str], Source | None], paths: Iterable[str], python: Container[str], *, noqa: bool = True
    ) -> None:
        self._source = source
        self._noqa = noqa
        self._paths = paths
        self._python = python
        self._read: dict[str, Suppressions | None] = {}

    def split(self, findings: Iterable[Finding], suppressed: list[Finding]) -> list[Finding]:
        """The findings to report; the others go into `suppressed`."""
        kept: list[Finding] = []
        for finding in findings:
            suppressions = self._of(finding.location.path)
            hidden = suppressions is not None and suppressions.covers(finding)
            (suppressed if hidden else kept).append(finding)
        return kept

    def all(self) -> Iterator[Suppressions]:
        """The suppressions of all files that have some."""
        for path in self._paths:
            if (suppressions := self._of(path)) is not None:
                yield suppressions

    def _of(self, path: str) -> Suppressions | None:
        if path not in self._read:
            self._read[path] = self._look(path)
        return self._read[path]

    def _look(self, path: str) -> Suppressions | None:
        source = self._source(path)
        if source is None:
            return None
        data = source.data.lower()
        # UTF-16 spreads the marks with zero bytes.
        if not any(mark in data for mark in _MARKS) and b"\0" not in data:
            return None
        return Suppressions(path, source.lines, python=path in self._python, noqa=self._noqa)
