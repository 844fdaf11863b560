"""Wherever people meet dllint, it says the same: the command, flake8, the hook of pre-commit, standard input."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from hooked import Hooked, committed, home, hook
from hosts import Place, dllint, flake8, in_python, places, showcase

from dllint.cli import main

__all__ = ["home", "hook"]

PACKAGE = "fastmri==0.3.0"
"""Code that nobody wrote for dllint: small, and with findings."""
OTHERS = 6
"""Of so many files without findings the text is piped in."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", str(folder)]
    run = subprocess.run([*command, PACKAGE], capture_output=True, text=True, timeout=300)
    if run.returncode:
        pytest.skip(f"{PACKAGE} cannot be had: {run.stderr[-300:]}")
    (found,) = folder.iterdir()
    return found


@pytest.fixture(params=["showcase", "package"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A repository, with all rules on."""
    folder = tmp_path / "project"
    if request.param == "showcase":
        showcase(folder)
    else:
        zipfile.ZipFile(request.getfixturevalue("wheel")).extractall(folder)
    (folder / "dllint.toml").write_text('select = ["ALL"]\n')
    return committed(folder)


@pytest.fixture
def expected(project: Path) -> set[Place]:
    found = places(dllint(".", cwd=project).stdout)
    assert len(found) >= 3
    return found


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_flake8(project: Path, expected: set[Place], jobs: str) -> None:
    run = flake8("--jobs", jobs, "--select", "DLL", ".", cwd=project)
    assert (places(run.stdout), run.stderr) == (in_python(expected), "")


def test_pre_commit(project: Path, expected: set[Place], hook: Path, home: Path) -> None:
    hooked = Hooked(project, hook, home)
    hooked.configure()
    assert places(hooked.run("--all-files").stdout) == expected


def test_standard_input(
    project: Path, expected: set[Place], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    for name in piped(project, expected):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((project / name).read_bytes())))
        main(["-", "--stdin-filename", name])
        assert places(capsys.readouterr().out) == {place for place in expected if place.path == name}, name


def piped(project: Path, expected: Iterable[Place]) -> list[str]:
    """The files with findings, and some of the others."""
    names = {path.relative_to(project).as_posix() for path in project.rglob("*.py")}
    telling = {place.path for place in expected}
    return [*sorted(telling), *sorted(names - telling)[:OTHERS]]
