"""Grouped: the findings of each file below its name."""

from __future__ import annotations

from itertools import groupby
from typing import TextIO

from dllint.finding import Finding
from dllint.linter import Report
from dllint.output import Style, printable
from dllint.output.text import row_and_column


def write(report: Report, stream: TextIO, style: Style) -> None:
    """Print each file's path, then its findings as `row:column CODE message`, in columns."""
    for path, found in groupby(report.findings, key=lambda finding: finding.location.path):
        stream.write(f"{printable(path)}:\n")
        stream.writelines(_lines(list(found)))
        stream.write("\n")


def _lines(findings: list[Finding]) -> list[str]:
    places = [row_and_column(finding.location) for finding in findings]
    width = max(map(len, places))
    pairs = zip(places, findings, strict=True)
    return [f"  {place:<{width}}  {finding.code}  {printable(finding.message)}\n" for place, finding in pairs]
