"""How findings are printed: one module per format, each with a `write`. A new one is a module and a line in FORMATS."""

from __future__ import annotations

import importlib
import os
import re
from collections import Counter
from collections.abc import Callable
from typing import TextIO, cast

from dllint.finding import Location, Severity
from dllint.linter import Report
from dllint.patterns import pattern
from dllint.records import dataclass

FORMATS = {
    "text": "dllint.output.text",
    "concise": "dllint.output.concise",
    "grouped": "dllint.output.grouped",
    "json": "dllint.output.json_",
    "github": "dllint.output.github",
    "gitlab": "dllint.output.gitlab",
    "sarif": "dllint.output.sarif",
    "junit": "dllint.output.junit",
    "checkstyle": "dllint.output.checkstyle",
    "rdjson": "dllint.output.rdjson",
}
"""Name on the command line -> module, imported only when it is asked for."""


@dataclass(frozen=True, slots=True)
class Style:
    """How the user wants it."""

    terminal: bool = False
    """Show source lines, the way and the summary, for a person who reads a screen."""
    color: bool = False
    verbose: bool = False
    quiet: bool = False
    statistics: bool = False
    """Count findings by rule instead of listing them."""


Writer = Callable[[Report, TextIO, Style], None]


def write(report: Report, stream: TextIO, output_format: str, style: Style) -> None:
    """Print `report` to `stream` in one of FORMATS."""
    writer = cast(Writer, importlib.import_module(FORMATS[output_format]).write)
    writer(report, stream, style)


# Control characters (C0, DEL, C1), line separators, what turns the direction of text, and undecodable bytes.
_UNPRINTABLE = pattern("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def printable(text: str) -> str:
    """`text` on one line and without anything that a terminal would obey; such characters become escapes."""
    return _UNPRINTABLE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    letter = found[0]
    if letter in _SHORT:
        return _SHORT[letter]
    code = ord(letter)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that could not be decoded
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def slashed(path: str) -> str:
    """A path with the separators that reports use, whatever the machine's own are."""
    return path.replace(os.sep, "/")


def with_cell(message: str, place: Location) -> str:
    """A message for a format that has no place for cells of notebooks."""
    return f"{message} (cell {place.cell}, line {place.row})" if place.cell else message


@dataclass(frozen=True, slots=True)
class Count:
    """How often one rule reported."""

    code: str
    name: str
    severity: Severity
    number: int


def counts(report: Report) -> list[Count]:
    """The findings counted by rule, most frequent first."""
    numbers = Counter(finding.code for finding in report.findings)
    first = {finding.code: finding for finding in reversed(report.findings)}
    ordered = sorted(numbers.items(), key=lambda item: (-item[1], item[0]))
    return [Count(code, first[code].name, first[code].severity, number) for code, number in ordered]


def summary(report: Report) -> str:
    """One line that counts what was found."""
    files = plural(report.file_count, "file")
    by_severity = Counter(finding.severity for finding in report.findings)
    parts = [plural(by_severity[severity], severity.label) for severity in sorted(by_severity, reverse=True)]
    hidden = ((len(report.suppressed), "suppressed"), (len(report.baselined), "known"))
    if any(number for number, _ in hidden):
        files += f" ({', '.join(f'{number} {what}' for number, what in hidden if number)})"
    found = f"Found {', '.join(parts)} in {files}." if parts else f"No findings in {files}."
    return " ".join(filter(None, (fixed(report), found, _fixable(report))))


def fixed(report: Report) -> str:
    """How many findings were mended."""
    return f"Fixed {plural(report.fixed, 'finding')}." if report.fixed else ""


def _fixable(report: Report) -> str:
    """How many findings `--fix` would mend, for whoever does not know it yet."""
    safe = [finding.fix.safe for finding in report.findings if finding.fix]
    counted = ((sum(safe), "--fix"), (len(safe) - sum(safe), "--fix --unsafe-fixes"))
    told = [f"{number} fixable with {flags}" for number, flags in counted if number]
    return f"{', '.join(told)}." if told else ""


def plural(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {noun}" if number == 1 or noun == "info" else f"{number} {noun}s"
