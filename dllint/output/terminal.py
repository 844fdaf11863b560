"""Findings for a person at a terminal: colour, the source line with a caret, the way to the failure, and `help:`."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console
from rich.text import Text

from dllint.finding import Finding, Location, Severity
from dllint.linter import Report
from dllint.output import Style, printable, summary
from dllint.output.text import place

_COLORS = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold cyan"}
_LONGEST_LINE = 160
"""Source lines are cut here: one line of generated code can be a megabyte."""


def write(report: Report, stream: TextIO, style: Style) -> None:
    """Print each finding as a paragraph, then the summary."""
    console = Console(
        file=stream,
        force_terminal=style.color,
        no_color=not style.color,
        color_system="standard" if style.color else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    for finding in report.findings:
        console.print(_paragraph(finding, report), soft_wrap=True)
    console.print(Text(summary(report), style="bold"), soft_wrap=True)


def _paragraph(finding: Finding, report: Report) -> Text:
    color = _COLORS[finding.severity]
    text = Text()
    text.append(place(finding.location), "bold").append(": ").append(finding.code, color)
    text.append(f" {printable(finding.message)}\n")
    _add_source(text, finding.location, report, color)
    for number, item in enumerate(finding.related, 1):
        text.append(f"  {number}. ", "cyan").append(place(item.location), "cyan")
        text.append(f" {printable(item.message)}\n")
    if finding.help:
        text.append("  help:", "bold green").append(f" {printable(finding.help)}\n")
    return text


def _add_source(text: Text, location: Location, report: Report, color: str) -> None:
    line = report.line(location)
    start = location.column - 1
    if not line.strip() or start >= min(len(line), _LONGEST_LINE):
        return
    end = location.end_column - 1 if location.end_row == location.row else len(line)
    end = min(max(end, start + 1), len(line), _LONGEST_LINE)
    before, marked, after = (printable(part.replace("\t", "    ")) for part in _cut(line, start, end))
    margin = f" {location.row} "
    text.append(f"{margin}| ", "blue").append(before).append(marked, color).append(after).append("\n")
    blank = " " * len(margin)
    caret = " " * Text(before).cell_len + "^" * max(1, Text(marked.rstrip()).cell_len)
    text.append(f"{blank}| ", "blue").append(caret, color).append("\n")


def _cut(line: str, start: int, end: int) -> tuple[str, str, str]:
    tail = line[end:_LONGEST_LINE] + ("..." if len(line) > _LONGEST_LINE else "")
    return line[:start], line[start:end], tail
