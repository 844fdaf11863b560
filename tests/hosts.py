"""What the tests of the plugin, the hook and standard input share: the programs that dllint runs in, and projects."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from harness import FIXTURES, Case

BIN = Path(sys.executable).parent
LEADS_ASTRAY = ("PRE_COMMIT_", "GIT_", "FLAKE8_", "PYTHONPATH")
"""Starts of variables that a program around the tests may have set."""


class Place(NamedTuple):
    """A finding as all hosts print it."""

    path: str
    row: int
    column: int
    code: str


def places(printed: str) -> set[Place]:
    """The findings of dllint in the output of any host. Each may be printed once only."""
    found = re.findall(r"^(?:\./)?(.+?):(\d+):(\d+): (DLL\d{3}) ", printed, re.MULTILINE)
    once = {Place(path, int(row), int(column), code) for path, row, column, code in found}
    assert len(once) == len(found), f"printed twice:\n{printed}"
    return once


def in_python(found: Iterable[Place]) -> set[Place]:
    """What flake8 can see of it."""
    return {place for place in found if place.path.endswith(".py")}


def program(
    *command: str, cwd: Path, text: str | bytes = "", more: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program of this environment, with `text` as its standard input."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(LEADS_ASTRAY)}
    environment |= {"PATH": f"{BIN}{os.pathsep}{environment['PATH']}", **(more or {})}
    data = text.encode() if isinstance(text, str) else text
    run = subprocess.run(command, cwd=cwd, env=environment, input=data, capture_output=True, timeout=300)
    return subprocess.CompletedProcess(command, run.returncode, run.stdout.decode(), run.stderr.decode())


def dllint(*words: str, cwd: Path, text: str | bytes = "") -> subprocess.CompletedProcess[str]:
    """Run the command."""
    return program(sys.executable, "-m", "dllint", *words, cwd=cwd, text=text)


def flake8(
    *words: str, cwd: Path, text: str | bytes = "", more: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run flake8 as a process of its own."""
    return program(sys.executable, "-m", "flake8", *words, cwd=cwd, text=text, more=more)


def unpacked(case: Path, folder: Path) -> Path:
    """A project as a fixture has it, without its labels; `.git` marks its root."""
    (folder / ".git").mkdir(parents=True)
    Case(case).unpack(folder)
    return folder


def showcase(folder: Path) -> Path:
    """The project with faults of all families."""
    return unpacked(FIXTURES / "showcase", folder)


def written(folder: Path, **files: str) -> Path:
    """A project of these Python files (name without suffix -> text)."""
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder
