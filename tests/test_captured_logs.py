"""Logs that real runs of torch left: the first letter of a file's name is the class of what went wrong in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dllint.cli import main

LOGS = sorted((Path(__file__).parent.parent / "fixtures" / "logs").glob("*.log"))


def test_there_are_logs_of_many_classes() -> None:
    assert len({path.name[0] for path in LOGS}) > 6 and len(LOGS) > 100


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_a_captured_log_is_of_its_class(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status = main(["diagnose", str(path), "--project", str(tmp_path), "--output-format", "json"])
    failures = json.loads(capsys.readouterr().out)
    expected = None if path.name.startswith("ok") else path.name[0]
    assert (failures[0]["class"] if failures else None) == expected
    assert status == (1 if expected is None else 0)
