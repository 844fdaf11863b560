"""JUnit: a test suite in which each finding is a test that failed; a run without findings is one that passed."""

from __future__ import annotations

from typing import TextIO

from dllint.finding import Finding, Location
from dllint.linter import Report
from dllint.output import Style, printable
from dllint.output.text import row_and_column
from dllint.output.xml import attribute, escaped


def write(report: Report, stream: TextIO, style: Style) -> None:
    """Print the findings as one XML document."""
    number = len(report.findings)
    stream.write('<?xml version="1.0" encoding="utf-8"?>\n')
    stream.write(f'<testsuites name="dllint" tests="{max(1, number)}" failures="{number}" errors="0">\n')
    stream.write(f'  <testsuite name="dllint" tests="{max(1, number)}" failures="{number}" errors="0" skipped="0">\n')
    stream.writelines(_case(finding) for finding in report.findings)
    if not report.findings:
        stream.write('    <testcase name="no findings" classname="dllint"/>\n')
    stream.write("  </testsuite>\n</testsuites>\n")


def _case(finding: Finding) -> str:
    place = finding.location.in_file
    at = row_and_column(finding.location)
    name = f"{finding.code} {place.path}:{at}"
    text = [f"{place.path}:{at}: {finding.code} {finding.message}"]
    text += [f"{item.location.path}:{_row(item.location)}: {item.message}" for item in finding.related]
    text += [f"help: {finding.help}"] if finding.help else []
    return (
        f"    <testcase name={attribute(name)} classname={attribute(place.path)} file={attribute(place.path)}"
        f' line="{place.row}">\n'
        f"      <failure type={attribute(finding.severity.label)} message={attribute(finding.message)}>"
        f"{escaped(chr(10).join(map(printable, text)))}</failure>\n"
        "    </testcase>\n"
    )


def _row(place: Location) -> str:
    return f"cell {place.cell}:{place.row}" if place.cell else str(place.row)
