"""SARIF 2.1.0: what code scanning services read. The way to a finding becomes a code flow."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any, TextIO
from urllib.parse import quote

from dllint import __version__
from dllint.finding import Finding, Location, Severity
from dllint.linter import Report
from dllint.output import Style, slashed, with_cell
from dllint.registry import listing
from dllint.rule import Rule

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_BASE = "%SRCROOT%"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def write(report: Report, stream: TextIO, style: Style) -> None:
    """Print one log with one run: the findings, and those that are suppressed, marked as such."""
    suppressed = [(finding, "inSource") for finding in report.suppressed]
    suppressed += [(finding, "external") for finding in report.baselined]
    found = [*((finding, "") for finding in report.findings), *suppressed]
    rules = [listing()[code].rule for code in sorted({finding.code for finding, _ in found})]
    places = {rule.code: number for number, rule in enumerate(rules)}
    run = {
        "tool": {"driver": _driver(rules)},
        "originalUriBaseIds": {_BASE: {"uri": _uri(os.getcwd().rstrip(os.sep) + os.sep)}},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(report)],
        "results": [_result(finding, places[finding.code], kind) for finding, kind in found],
    }
    json.dump({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, stream, indent=2)
    stream.write("\n")


def _driver(rules: Iterable[Rule]) -> dict[str, Any]:
    return {
        "name": "dllint",
        "version": __version__,
        "informationUri": "https://github.com/dllint/dllint",
        "rules": [_rule(rule) for rule in rules],
    }


def _rule(rule: Rule) -> dict[str, Any]:
    text = "\n\n".join(f"## {heading}\n\n{body}" for heading, body in rule.sections.items())
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.name.replace("-", " ")},
        "fullDescription": {"text": rule.sections.get("What it does", rule.name)},
        "help": {"text": text, "markdown": text},
        "helpUri": rule.url,
        "defaultConfiguration": {"level": _LEVELS[rule.severity], "enabled": not rule.opt_in},
        "properties": {"failure": rule.failure.label, "tags": ["pytorch", rule.failure.label]},
    }


def _invocation(report: Report) -> dict[str, Any]:
    notes = [
        {"level": "error", "message": {"text": error.summary}, "descriptor": {"id": error.code or "analysis"}}
        for error in report.errors
    ]
    return {"executionSuccessful": not report.errors, "toolExecutionNotifications": notes}


def _result(finding: Finding, rule_index: int, suppression: str) -> dict[str, Any]:
    message = with_cell(finding.message, finding.location)
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": rule_index,
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{message}\n\n{finding.help}" if finding.help else message},
        "locations": [{"physicalLocation": _physical(finding.location)}],
        "partialFingerprints": {"dllint/v1": finding.identity},
    }
    if finding.related:
        way = [*((item.location, item.message) for item in finding.related), (finding.location, finding.message)]
        result["relatedLocations"] = [
            {"id": number, **_place(location, message)} for number, (location, message) in enumerate(way[:-1], 1)
        ]
        steps = [{"location": _place(location, message)} for location, message in way]
        result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    if finding.fix is not None:
        result["fixes"] = [_fix(finding)]
    if suppression:
        result["suppressions"] = [{"kind": suppression}]
    return result


def _fix(finding: Finding) -> dict[str, Any]:
    assert finding.fix is not None
    by_path: dict[str, list[dict[str, Any]]] = {}
    for edit in finding.fix.edits:
        replacement = {"deletedRegion": _region(edit.location), "insertedContent": {"text": edit.text}}
        by_path.setdefault(edit.location.path, []).append(replacement)
    changes = [{"artifactLocation": _artifact(path), "replacements": edits} for path, edits in by_path.items()]
    return {"description": {"text": finding.fix.title}, "artifactChanges": changes}


def _place(location: Location, message: str) -> dict[str, Any]:
    return {"physicalLocation": _physical(location), "message": {"text": with_cell(message, location)}}


def _physical(location: Location) -> dict[str, Any]:
    return {"artifactLocation": _artifact(location.path), "region": _region(location.in_file)}


def _region(location: Location) -> dict[str, int]:
    return {
        "startLine": location.row,
        "startColumn": location.column,
        "endLine": location.end_row,
        "endColumn": location.end_column,
    }


def _artifact(path: str) -> dict[str, str]:
    """A file below the current folder is told relative to it, any other by its whole path."""
    relative = os.path.relpath(path)
    if relative.split(os.sep, 1)[0] == os.pardir:
        return {"uri": _uri(os.path.abspath(path))}
    return {"uri": quote(os.fsencode(slashed(relative))), "uriBaseId": _BASE}


def _uri(path: str) -> str:
    return "file://" + quote(os.fsencode("/" + slashed(path).lstrip("/")))
