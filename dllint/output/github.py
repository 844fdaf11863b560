"""GitHub Actions: workflow commands, which a runner shows as annotations of the changed lines.

Escapes are those of the runner's own toolkit: `%`, CR and LF everywhere, `:` and `,` in properties too. Nothing that a
file's name or text holds can begin a command of its own.
"""

from __future__ import annotations

from typing import TextIO

from dllint.finding import Finding, Severity
from dllint.linter import Report
from dllint.output import Style, printable
from dllint.output.text import headline

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def write(report: Report, stream: TextIO, style: Style) -> None:
    """Print one workflow command for each finding."""
    stream.writelines(f"{_command(finding)}\n" for finding in report.findings)


def _command(finding: Finding) -> str:
    place = finding.location.in_file
    properties = {
        "title": f"dllint ({finding.code})",
        "file": place.path,
        "line": str(place.row),
        "col": str(place.column),
        "endLine": str(place.end_row),
        "endColumn": str(place.end_column),
    }
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {listed}::{_data(headline(finding))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(printable(text)).replace(":", "%3A").replace(",", "%2C")
