"""Applies the fixes of findings: on the text in memory, again until nothing changes. Then the files are written.

A rule describes its fix by text edits (`dllint.finding.Fix`), all in one file. Here is decided which of them are
applied: those that the user asked for, that do not overlap, and after which the file still parses.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from dllint.files import Kind, Project, SourceFile
from dllint.finding import Finding, Fix
from dllint.fixes.text import Text
from dllint.linter import Report
from dllint.records import dataclass, replace

_MOST_PASSES = 10
"""A fix may make room for the next one. Whoever needs more passes than this goes round in circles."""


@dataclass(frozen=True, slots=True)
class Change:
    """What the fixes make of one file."""

    path: str
    """As shown to the user."""
    absolute: str
    before: bytes
    after: bytes


def is_wanted(fix: Fix | None, *, unsafe: bool) -> bool:
    """Whether a fix is applied: the safe ones always, the others if they are asked for."""
    return fix is not None and (fix.safe or unsafe)


def fix_all(
    projects: Sequence[Project], lint: Callable[[Sequence[Project]], Report], *, unsafe: bool
) -> tuple[Report, list[Change]]:
    """Lint and apply fixes in turns. What is then left to report, and what has changed; nothing is written."""
    changes: dict[str, Change] = {}
    report = lint(projects)
    fixed = 0
    for _ in range(_MOST_PASSES):
        number, changed = _one_pass(projects, report, unsafe=unsafe)
        if not changed:
            break
        fixed += number
        for change in changed:
            first = changes.get(change.absolute, change)
            changes[change.absolute] = replace(change, before=first.before)
        projects = [_with_changes(project, changes) for project in projects]
        report = lint(projects)
    report.fixed = fixed
    return report, [change for change in changes.values() if change.before != change.after]


def _one_pass(projects: Sequence[Project], report: Report, *, unsafe: bool) -> tuple[int, list[Change]]:
    """How many fixes were applied, and the files that they changed."""
    by_path: dict[str, list[Finding]] = {}
    for finding in report.findings:
        if is_wanted(finding.fix, unsafe=unsafe):
            by_path.setdefault(finding.location.path, []).append(finding)
    number = 0
    changed = []
    for file in (file for project in projects for file in project.targets):
        if file.path not in by_path or file.kind is not Kind.PYTHON:
            continue
        applied, change = _fix_file(file, report, [finding.fix for finding in by_path[file.path] if finding.fix])
        number += applied
        if change is not None:
            changed.append(change)
    return number, changed


def _fix_file(file: SourceFile, report: Report, fixes: list[Fix]) -> tuple[int, Change | None]:
    # The very bytes that were linted: the file on disk may be another one by now.
    source = report.programs[file.path].source(file.path)
    text = Text.of(file.path, source.data) if source is not None else None
    if source is None or text is None:
        return 0, None
    applied = text.apply(fixes)
    return applied, Change(file.path, file.absolute, source.data, text.data) if applied else None


def _with_changes(project: Project, changes: dict[str, Change]) -> Project:
    files = (
        replace(file, data=changes[file.absolute].after) if file.absolute in changes else file for file in project.files
    )
    return replace(project, files=tuple(files))


def write(change: Change) -> None:
    """Replace the file at once: whoever reads it meanwhile sees the old text or the new one. Raises OSError."""
    import shutil
    import tempfile

    path = os.path.realpath(change.absolute)  # a link stays a link
    with open(path, "r+b") as stream:  # a file that may not be written stays as it is, too
        if stream.read() != change.before:
            raise OSError(0, "changed while it was linted")
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".dllint-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(change.after)
        shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
