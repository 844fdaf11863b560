"""`--add-noqa`: writes a comment at each finding that suppresses it.

Where a comment may stand is not worked out but tried: at the end of the line, at the end of the statement, on a line of
its own above. The first place is taken where the file says the same as before and the finding is suppressed.
"""

from __future__ import annotations

import codecs
import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dllint.files import Kind, Project, SourceFile
from dllint.finding import Finding
from dllint.fixes import Change
from dllint.linter import Report
from dllint.meaning import meaning
from dllint.patterns import pattern
from dllint.records import replace
from dllint.suppressions import Comment, Suppressions, hash_comments, python_comments

_LINE = pattern("[^\r\n]*(?:\r\n|\r|\n|$)")
_NOT_SUPPRESSED = ("DLL001", "DLL002")
"""A file that cannot be read, and suppressions that suppress nothing: another one would not help."""
_NOQA = pattern(r"#\s*noqa\s*:\s*(?:(?:DLL|[A-Z]+[0-9]+)[,\s]*)*(?:DLL|[A-Z]+)[0-9]*", re.IGNORECASE)
_IGNORE = pattern(r"#\s*dllint:\s*ignore\s*\[[^\]\n]*[^\]\s,]", re.IGNORECASE)


class Added(NamedTuple):
    """What `add` has made."""

    changes: list[Change]
    number: int
    """Findings that are suppressed now."""
    left: list[Finding]
    """Those that no comment can suppress."""


def add(projects: Sequence[Project], report: Report) -> Added:
    """Comments at the findings of `report`; nothing is written."""
    files = {file.path: file for project in projects for file in project.targets}
    by_path: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_path.setdefault(finding.location.path, []).append(finding)
    changes, left = [], []
    for path, findings in by_path.items():
        # A folder that cannot be listed is no file.
        change, more = _in_file(files[path], findings) if path in files else (None, findings)
        changes += [change] if change is not None else []
        left += more
    return Added(changes, len(report.findings) - len(left), left)


def _in_file(file: SourceFile, findings: list[Finding]) -> tuple[Change | None, list[Finding]]:
    """The file with comments, if any could be written, and the findings that none can suppress."""
    data = file.read()
    encoding = _encoding(file, data)
    if encoding is None:
        return None, findings
    before = text = data.decode(encoding)
    said = meaning(text, file.kind)
    left = [finding for finding in findings if said is None or finding.code in _NOT_SUPPRESSED]
    rows = sorted({finding.location.row for finding in findings if finding not in left}, reverse=True)
    for row in rows:  # from the end: what is added there moves nothing that stands before
        group = [finding for finding in findings if finding.location.row == row and finding not in left]
        after = _with_comment(text, said, group, file)
        left += group if after is None else []
        text = text if after is None else after
    change = Change(file.path, file.absolute, data, text.encode(encoding)) if text != before else None
    return change, sorted(left, key=Finding.sort_key)


def _encoding(file: SourceFile, data: bytes) -> str | None:
    """The encoding that gives the very same bytes back, if there is one."""
    encoding = "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"
    try:
        if file.kind is Kind.PYTHON:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return encoding if data.decode(encoding).encode(encoding) == data else None
    except (SyntaxError, ValueError):
        return None


def _with_comment(text: str, said: object, group: list[Finding], file: SourceFile) -> str | None:
    """`text` with a comment that suppresses the findings of one row, and that changes nothing else."""
    python = file.kind is Kind.PYTHON
    for candidate, moved in _candidates(text, group, python=python):
        if meaning(candidate, file.kind) != said:
            continue
        suppressions = Suppressions(file.path, _lines(candidate), python=python)
        if all(suppressions.covers(_down(finding, moved)) for finding in group):
            return candidate
    return None


def _down(finding: Finding, rows: int) -> Finding:
    place = finding.location
    return replace(finding, location=replace(place, row=place.row + rows, end_row=place.end_row + rows))


def _candidates(text: str, group: list[Finding], *, python: bool) -> Iterator[tuple[str, int]]:
    """Texts with a comment, and by how many rows each moves the findings down."""
    lines = _lines(text)
    row = group[0].location.row
    codes = sorted({finding.code for finding in group})
    comments, statements = python_comments(lines) if python else (list(hash_comments(lines)), [])
    by_row = {comment.row: comment for comment in comments}
    ends = [end for start, end in statements if start <= row <= end]
    for at in dict.fromkeys((row, *ends, min(finding.location.end_row for finding in group))):
        marked = _marked(lines[at - 1], by_row.get(at), codes)
        yield "".join((*lines[: at - 1], marked, *lines[at:])), 0
    yield "".join((*lines[: row - 1], _above(lines, row, codes), *lines[row - 1 :])), 1


def _marked(line: str, comment: Comment | None, codes: Iterable[str]) -> str:
    """A line with the codes in its comment: in the suppression that stands there, or behind all that does."""
    body = line.rstrip("\r\n")
    listed = ", ".join(codes)
    start = comment.column - 1 if comment is not None else len(body)
    found = _NOQA.search(body, start) or _IGNORE.search(body, start)
    if found is None:
        return f"{body.rstrip()}  # noqa: {listed}{line[len(body) :]}"
    end = found.end()
    return f"{body[:end]}, {listed}{body[end:]}{line[len(body) :]}"


def _above(lines: list[str], row: int, codes: Iterable[str]) -> str:
    line = lines[row - 1]
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    first = lines[0]
    end = line[len(line.rstrip("\r\n")) :] or first[len(first.rstrip("\r\n")) :] or "\n"
    return f"{indent}# dllint: ignore[{', '.join(codes)}]{end}"


def _lines(text: str) -> list[str]:
    """The lines with their ends, as Python counts them."""
    return [found for found in _LINE.findall(text) if found]
