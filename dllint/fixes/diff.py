"""Changes as a unified diff that `patch` and `git apply` take."""

from __future__ import annotations

import difflib
import io
import tokenize
from collections.abc import Iterable, Iterator

from dllint.fixes import Change
from dllint.output import printable


def unified(changes: Iterable[Change], *, terminal: bool) -> Iterator[str]:
    """The lines of the diff; on a terminal without anything that it would obey."""
    for change in changes:
        name = printable(change.path)
        before, after = _lines(change.before), _lines(change.after)
        for line in difflib.unified_diff(before, after, fromfile=name, tofile=name):
            shown = _harmless(line) if terminal else line
            yield shown if shown.endswith("\n") else f"{shown}\n\\ No newline at end of file\n"


def _lines(data: bytes) -> list[str]:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    # Split as diff does it: a lone carriage return or a form feed ends no line.
    return list(io.StringIO(data.decode(encoding), newline="\n"))


def _harmless(line: str) -> str:
    body = line.rstrip("\r\n")
    return "\t".join(printable(part) for part in body.split("\t")) + line[len(body) :]
