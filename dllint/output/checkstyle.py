"""Checkstyle: the XML that many editors, review bots and build servers read."""

from __future__ import annotations

from itertools import groupby
from typing import TextIO

from dllint.finding import Finding
from dllint.linter import Report
from dllint.output import Style, with_cell
from dllint.output.xml import attribute


def write(report: Report, stream: TextIO, style: Style) -> None:
    """Print the findings, by file, as one XML document."""
    stream.write('<?xml version="1.0" encoding="utf-8"?>\n<checkstyle version="10.0">\n')
    for path, found in groupby(report.findings, key=lambda finding: finding.location.path):
        stream.write(f"  <file name={attribute(path)}>\n")
        stream.writelines(_error(finding) for finding in found)
        stream.write("  </file>\n")
    stream.write("</checkstyle>\n")


def _error(finding: Finding) -> str:
    place = finding.location.in_file
    message = with_cell(finding.message, finding.location)
    return (
        f'    <error line="{place.row}" column="{place.column}" severity="{finding.severity.label}"'
        f" message={attribute(f'{finding.code} {message}')}"
        f" source={attribute(f'dllint.{finding.code}.{finding.name}')}/>\n"
    )
