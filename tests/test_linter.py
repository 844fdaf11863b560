"""What a run makes of the findings of its rules."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest
from stub import stub

from dllint.files import discover
from dllint.finding import Finding, Severity
from dllint.linter import Program, Report, lint, summaries
from dllint.records import replace
from dllint.settings import Settings

__all__ = ["stub"]
pytestmark = pytest.mark.usefixtures("stub")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*paths: str, **settings: Any) -> Report:
    chosen = Settings(**settings)
    return lint(discover(paths or ["."], chosen), chosen)


def places(findings: list[Finding]) -> list[str]:
    return [f"{finding.location.path}:{finding.location.row} {finding.code}" for finding in findings]


def test_findings_come_sorted_by_place(here: Path) -> None:
    (here / "b.py").write_text("odd\nbad\n")
    (here / "a.py").write_text("x\nbad\n")
    assert places(run().findings) == ["a.py:2 DLL901", "b.py:1 DLL902", "b.py:2 DLL901"]


def test_only_targets_are_reported(here: Path) -> None:
    (here / "a.py").write_text("bad\n")
    (here / "b.py").write_text("bad\n")
    report = run("b.py")
    assert places(report.findings) == ["b.py:1 DLL901"]
    assert report.file_count == 1


def test_a_finding_yields_to_a_more_specific_one_on_its_line(here: Path) -> None:
    (here / "a.py").write_text("odd and bad\nodd\n")
    assert places(run().findings) == ["a.py:1 DLL901", "a.py:2 DLL902"]
    assert places(run(ignore=("DLL901",)).findings) == ["a.py:1 DLL902", "a.py:2 DLL902"]


def test_a_suppressed_finding_still_replaces(here: Path) -> None:
    (here / "a.py").write_text("odd and bad  # noqa: DLL901\n")
    report = run()
    assert (report.findings, places(report.suppressed)) == ([], ["a.py:1 DLL901"])


def test_the_same_finding_twice_is_one(here: Path) -> None:
    (here / "a.py").write_text("bad\n")
    assert places(run("a.py", "a.py", ".").findings) == ["a.py:1 DLL901"]


def test_a_rule_that_raises_costs_nothing_but_itself(here: Path) -> None:
    (here / "a.py").write_text("raise\nbad\n")
    (here / "b.py").write_text("odd\n")
    report = run()
    assert places(report.findings) == ["a.py:2 DLL901", "b.py:1 DLL902"]
    assert [(error.code, error.path) for error in report.errors] == [("DLL905", "a.py")]
    assert report.errors[0].summary == "internal error in DLL905 on a.py: ZeroDivisionError: a defect"


def test_errors_of_one_defect_in_one_file_are_told_once(here: Path) -> None:
    (here / "a.py").write_text("raise\nbad\nraise\n")
    (here / "b.py").write_text("raise\n")
    errors = run().errors
    assert len(errors) == 3
    others = [replace(error, code=code) for error in errors for code in ("DLL905", "DLL906", "DLL907")]
    elsewhere = replace(errors[0], traceback='  File "x.py", line 1, in y\nZeroDivisionError: a defect\n')
    assert [told for _, told in summaries([*others, elsewhere])] == [
        "internal error in DLL905 and 2 other rules on a.py: ZeroDivisionError: a defect (6 times)",
        "internal error in DLL905 and 2 other rules on b.py: ZeroDivisionError: a defect (3 times)",
        "internal error in DLL905 on a.py: ZeroDivisionError: a defect",
    ]


def test_a_project_that_cannot_be_analysed_does_not_spoil_the_next(here: Path, tmp_path: Path) -> None:
    def load(project: object, settings: object) -> Program:
        raise RecursionError("too deep")

    (here / "a.py").write_text("bad\n")
    report = lint(discover(["."], Settings()), Settings(), load=load)
    assert [(error.code, error.path) for error in report.errors] == [("", str(tmp_path))]


def test_severities_can_be_set(here: Path) -> None:
    (here / "a.py").write_text("bad\n")
    assert run(severity=(("bad-line", Severity.INFO),)).findings[0].severity is Severity.INFO


def test_files_can_be_left_alone_by_some_rules(here: Path) -> None:
    (here / "a.py").write_text("bad\nodd\n")
    assert places(run(per_file_ignores=(("a.py", ("DLL901",)),), root=str(here)).findings) == ["a.py:2 DLL902"]


def test_unused_suppressions_are_reported_where_that_rule_runs(here: Path) -> None:
    (here / "a.py").write_text("bad  # noqa: DLL901\nx  # noqa: DLL902\ny  # noqa: DLL901, DLL906\n")
    assert places(run().findings) == []
    report = run(extend_select=("DLL906",))
    assert places(report.findings) == ["a.py:2 DLL906"]
    assert places(report.suppressed) == ["a.py:1 DLL901", "a.py:3 DLL906"]


def test_the_garbage_collector_is_as_it_was(here: Path) -> None:
    assert gc.isenabled()
    run()
    assert gc.isenabled()


def test_progress_goes_to_the_end(here: Path) -> None:
    (here / "a.py").write_text("bad\n")
    seen: list[tuple[int, int]] = []
    lint(discover(["."], Settings()), Settings(), progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert seen[-1] == (3, 3), "three rules are on by default"
