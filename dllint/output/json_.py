"""JSON: a list of findings, with the keys that users of ruff know. Keys may be added, never renamed."""

from __future__ import annotations

import json
from typing import Any, TextIO

from dllint.finding import Finding, Fix, Location
from dllint.linter import Report
from dllint.output import Style, counts
from dllint.rule import rule_url


def write(report: Report, stream: TextIO, style: Style) -> None:
    """Print all findings, or with `style.statistics` the counts by rule, as one JSON list."""
    items = _statistics(report) if style.statistics else [as_dict(finding) for finding in report.findings]
    json.dump(items, stream, indent=2)
    stream.write("\n")


def _statistics(report: Report) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = [
        {"code": item.code, "name": item.name, "severity": item.severity.label, "count": item.number}
        for item in counts(report)
    ]
    if report.stale:
        items.append({"code": None, "name": "stale-baseline-entry", "severity": None, "count": len(report.stale)})
    return items


def as_dict(finding: Finding) -> dict[str, Any]:
    """One finding as plain values."""
    return {
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "severity": finding.severity.label,
        "failure": finding.failure.label,
        "filename": finding.location.path,
        **_span(finding.location),
        "url": rule_url(finding.code, finding.name),
        "help": finding.help,
        "fix": _fix(finding.fix),
        "related": [
            {"message": item.message, "filename": item.location.path, **_span(item.location), **_cell(item.location)}
            for item in finding.related
        ],
        "fingerprint": finding.identity,
        "cell": finding.location.cell or None,
    }


def _span(location: Location) -> dict[str, dict[str, int]]:
    return {
        "location": {"row": location.row, "column": location.column},
        "end_location": {"row": location.end_row, "column": location.end_column},
    }


def _cell(location: Location) -> dict[str, int]:
    return {"cell": location.cell} if location.cell else {}


def _fix(fix: Fix | None) -> dict[str, Any] | None:
    if fix is None:
        return None
    return {
        "applicability": "safe" if fix.safe else "unsafe",
        "message": fix.title,
        "edits": [{"filename": edit.location.path, **_span(edit.location), "content": edit.text} for edit in fix.edits],
    }
