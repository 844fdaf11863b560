"""rdjson: reviewdog's diagnostic format, with the way as related locations and a fix as suggestions."""

from __future__ import annotations

import json
from typing import Any, TextIO

from dllint.finding import Finding, Location, Severity
from dllint.linter import Report
from dllint.output import Style, with_cell
from dllint.rule import rule_url

_SEVERITIES = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.INFO: "INFO"}


def write(report: Report, stream: TextIO, style: Style) -> None:
    """Print the findings as one DiagnosticResult."""
    result = {
        "source": {"name": "dllint", "url": "https://github.com/dllint/dllint"},
        "diagnostics": [_diagnostic(finding) for finding in report.findings],
    }
    json.dump(result, stream, indent=2)
    stream.write("\n")


def _diagnostic(finding: Finding) -> dict[str, Any]:
    message = with_cell(finding.message, finding.location)
    found: dict[str, Any] = {
        "message": f"{message}\n{finding.help}" if finding.help else message,
        "location": _location(finding.location),
        "severity": _SEVERITIES[finding.severity],
        "code": {"value": finding.code, "url": rule_url(finding.code, finding.name)},
    }
    if finding.related:
        found["related_locations"] = [
            {"message": with_cell(item.message, item.location), "location": _location(item.location)}
            for item in finding.related
        ]
    if finding.fix is not None:
        here = [edit for edit in finding.fix.edits if edit.location.path == finding.location.path]
        found["suggestions"] = [{"range": _range(edit.location), "text": edit.text} for edit in here]
    return found


def _location(place: Location) -> dict[str, Any]:
    return {"path": place.path, "range": _range(place.in_file)}


def _range(place: Location) -> dict[str, dict[str, int]]:
    return {
        "start": {"line": place.row, "column": place.column},
        "end": {"line": place.end_row, "column": place.end_column},
    }
