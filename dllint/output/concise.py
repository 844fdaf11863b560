"""Concise: one line a finding, whoever reads it. What text prints into a pipe."""

from __future__ import annotations

from typing import TextIO

from dllint.linter import Report
from dllint.output import Style
from dllint.output.text import headline


def write(report: Report, stream: TextIO, style: Style) -> None:
    """Print `path:line:col: CODE message` for each finding."""
    stream.writelines(f"{headline(finding)}\n" for finding in report.findings)
