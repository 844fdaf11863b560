"""The findings of a project that explain a failure: those the traceback points at first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath

from dllint.diagnose.tracebacks import Frame
from dllint.files import discover
from dllint.finding import Finding
from dllint.linter import Report, lint
from dllint.records import replace
from dllint.settings import load


def look_for(path: str, codes: Iterable[str]) -> Report:
    """What the rules `codes` find in the project at `path`, whether they are on by default or not.

    Raises SettingsError and PathError. What the project's settings ignore stays ignored; what they select does not
    count. All rules run, for the more specific one of two silences the other.
    """
    settings = replace(load(path), select=("ALL",), extend_select=())
    report = lint(discover([path], settings), settings)
    wanted = set(codes)
    report.findings = [finding for finding in report.findings if finding.code in wanted]
    return report


def ranked(findings: Iterable[Finding], codes: Sequence[str], frames: Sequence[Frame]) -> list[Finding]:
    """The findings of the rules `codes`: where a traceback passed first, then by how well the rule fits."""
    places = {code: place for place, code in enumerate(codes)}
    mine = [finding for finding in findings if finding.code in places]

    def key(finding: Finding) -> tuple[int, int, int]:
        return -_closeness(finding, frames), places[finding.code], -int(finding.severity)

    return sorted(mine, key=key)


def _closeness(finding: Finding, frames: Iterable[Frame]) -> int:
    """3: a frame names a line of the finding; 2: its class or function; 1: a file on its way; 0: nothing."""
    best = 0
    names = {name for name in finding.symbol.split(".") if name}
    for frame in frames:
        for location in finding.locations():
            if not _same_file(location.path, frame.path):
                continue
            if location.row <= frame.row <= location.end_row:
                return 3
            function = frame.function.rsplit(".", 1)[-1]
            best = max(best, 2 if function in names and not function.startswith("<") else 1)
    return best


def _same_file(path: str, other: str) -> bool:
    """Whether two paths may mean one file: a log may come from another machine, so it is their names that count."""
    return PurePath(path).name == PurePath(other).name
