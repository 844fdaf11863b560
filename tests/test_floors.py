"""Imports go downwards. The floors stand in pyproject.toml; here they are held."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness import ROOT


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """The packages laid out as they are imported: import-linter does not see that ./rules is dllint.rules."""
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "dllint", tmp_path / "dllint", ignore=ignore)
    shutil.copytree(ROOT / "rules", tmp_path / "dllint" / "rules", ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def lint_imports(house: Path) -> subprocess.CompletedProcess[str]:
    program = "from importlinter.cli import lint_imports_command as run; run()"
    command = [sys.executable, "-c", program, "--no-cache"]
    environment = {**os.environ, "PYTHONPATH": str(house)}
    return subprocess.run(command, cwd=house, env=environment, capture_output=True, text=True, check=False)


def test_no_import_runs_upwards(house: Path) -> None:
    result = lint_imports(house)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        ("finding.py", "dllint.rule"),
        ("settings.py", "dllint.code"),
        ("code/__init__.py", "dllint.linter"),
        ("rules/__init__.py", "dllint.linter"),
        ("linter.py", "dllint.output"),
        ("output/__init__.py", "dllint.cli"),
    ],
)
def test_an_import_that_runs_upwards_is_found(house: Path, lower: str, upper: str) -> None:
    with (house / "dllint" / lower).open("a") as module:
        module.write(f"\nimport {upper}\n")
    result = lint_imports(house)
    assert result.returncode == 1, result.stdout + result.stderr
    assert f"is not allowed to import {upper}" in " ".join(result.stdout.split())


def test_a_module_without_a_floor_is_found(house: Path) -> None:
    (house / "dllint" / "attic.py").write_text("")
    result = lint_imports(house)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "attic" in result.stdout
