"""What the command line offers to a project that has findings already: a baseline, only new findings, comments."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from dllint.baseline import Baseline, Judged, rewritten
from dllint.files import Project
from dllint.linter import Report
from dllint.selection import enabled_rules
from dllint.settings import Settings, SettingsError

Filter = Callable[[Report], None]
"""Moves what is known from the findings of a report to `baselined`."""


def known(paths: Sequence[str], projects: Sequence[Project], settings: Settings, new_since: str | None) -> list[Filter]:
    """What hides the findings of the baseline, and those that were there at a git revision.

    Raises BaselineError or RevisionError where one of them cannot be had.
    """
    filters: list[Filter] = []
    if new_since is not None:
        from dllint.changes import OldFindings

        filters.append(OldFindings.at(new_since, paths, settings).hide)
    if settings.baseline is not None:
        baseline = Baseline.read(settings.baseline)
        judged = _judged(projects, settings)
        filters.append(lambda report: baseline.hide(report, judged))
    return filters


def tell_stale(report: Report, settings: Settings) -> None:
    """Say on stderr which entries of the baseline are met by no finding any more."""
    from dllint.output import printable

    for entry in report.stale:
        sys.stderr.write(f"stale: {printable(entry)}\n")
    if report.stale:
        file = printable(settings.baseline or "")
        sys.stderr.write(f"{_entries(len(report.stale))} of {file} can go: --write-baseline leaves them out\n")


def write_baseline(projects: Sequence[Project], settings: Settings, lint: Callable[[], Report]) -> Report:
    """Write all findings to the baseline, and say how many. Raises SettingsError if no file is named."""
    if settings.baseline is None:
        raise SettingsError("--write-baseline: name the file with --baseline, or with `baseline` in the settings")
    before = rewritten(settings.baseline)
    report = lint()
    if not report.errors:  # a rule that failed might have found what would now be left out
        after = before.updated(report, _judged(projects, settings))
        after.write()
        sys.stderr.write(f"Wrote {_entries(after.entries.total())} to {settings.baseline}.\n")
    return report


def _judged(projects: Sequence[Project], settings: Settings) -> Judged:
    paths = {os.path.abspath(file.path) for project in projects for file in project.targets}
    return Judged(paths, {rule.code for rule in enabled_rules(settings)})


def _entries(number: int) -> str:
    return f"{number} {'entry' if number == 1 else 'entries'}"
