"""Text: one plain line a finding for pipes; source line, way and help for a person at a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from dllint.finding import Finding, Location
from dllint.linter import Report
from dllint.output import Style, counts, printable, summary


def write(report: Report, stream: TextIO, style: Style) -> None:
    """Print the findings, or with `style.statistics` the counts by rule."""
    if style.terminal and not style.quiet and not style.statistics:
        from dllint.output import terminal

        terminal.write(report, stream, style)
        return
    lines = _statistics(report) if style.statistics else _plain(report, style)
    stream.writelines(f"{line}\n" for line in lines)
    if style.terminal and not style.quiet:
        stream.write(summary(report) + "\n")


def headline(finding: Finding) -> str:
    """`path:line:col: CODE message`, as editors and flake8's users know it."""
    return f"{place(finding.location)}: {finding.code} {printable(finding.message)}"


def place(location: Location) -> str:
    """`path:line:col`, in a notebook `path:cell N:line:col`."""
    return f"{printable(location.path)}:{row_and_column(location)}"


def row_and_column(location: Location) -> str:
    """`line:col`, in a notebook `cell N:line:col`."""
    cell = f"cell {location.cell}:" if location.cell else ""
    return f"{cell}{location.row}:{location.column}"


def _plain(report: Report, style: Style) -> Iterator[str]:
    for finding in report.findings:
        yield headline(finding)
        if not style.verbose or style.quiet:
            continue
        for item in finding.related:
            yield f"    {place(item.location)}: {printable(item.message)}"
        if finding.help:
            yield f"    help: {printable(finding.help)}"


def _statistics(report: Report) -> Iterator[str]:
    items = counts(report)
    width = len(str(items[0].number)) if items else 0
    for item in items:
        yield f"{item.number:>{width}}  {item.code}  {item.severity.label:<7}  {item.name}"
    if report.stale:
        yield f"{len(report.stale):>{width}}  stale entries in the baseline"
