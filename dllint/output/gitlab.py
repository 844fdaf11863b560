"""GitLab: a code quality report, which a merge request shows beside its changes."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, TextIO

from dllint.finding import Finding, Severity
from dllint.linter import Report
from dllint.output import Style, slashed, with_cell

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.INFO: "info"}


def write(report: Report, stream: TextIO, style: Style) -> None:
    """Print the findings as one JSON list. GitLab asks for a fingerprint that no two findings share."""
    seen: Counter[str] = Counter()
    items = []
    for finding in report.findings:
        seen[finding.identity] += 1
        number = seen[finding.identity]
        items.append(_issue(finding, finding.identity if number == 1 else f"{finding.identity}-{number}"))
    json.dump(items, stream, indent=2)
    stream.write("\n")


def _issue(finding: Finding, fingerprint: str) -> dict[str, Any]:
    place = finding.location.in_file
    return {
        "check_name": f"{finding.code} {finding.name}",
        "description": f"{finding.code} {with_cell(finding.message, finding.location)}",
        "severity": _SEVERITIES[finding.severity],
        "fingerprint": fingerprint,
        "location": {"path": slashed(place.path), "lines": {"begin": place.row, "end": place.end_row}},
    }
