"""Run dllint on the files of one package, as somebody would run it who has no settings."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from ecosystem.digest import Entry

_CHECK = [sys.executable, "-m", "dllint", "check", "--isolated", "--exit-zero", "--output-format", "json"]


class Found(NamedTuple):
    """A finding: what the digest keeps of it, and what only a reader needs."""

    entry: Entry
    message: str
    way: list[str]


class LintError(Exception):
    """dllint did not come to its end."""


def lint(package: str, folder: Path) -> list[Found]:
    """All findings of the default rules in the folder."""
    # Not started in the folder itself: Python would import what lies there.
    run = subprocess.run([*_CHECK, str(folder)], cwd=folder.parent, capture_output=True, text=True)
    if run.returncode:
        raise LintError(f"dllint ended with {run.returncode} on {package}:\n{run.stderr}")
    return sorted(_found(package, folder, finding) for finding in json.loads(run.stdout))


def _found(package: str, folder: Path, finding: dict[str, Any]) -> Found:
    path, line = _place(folder, finding)
    way = [f"{':'.join(map(str, _place(folder, step)))} {step['message']}" for step in finding["related"]]
    return Found(Entry(package, path, line, finding["code"]), finding["message"], way)


def _place(folder: Path, told: dict[str, Any]) -> tuple[str, int]:
    return Path(told["filename"]).relative_to(folder).as_posix(), int(told["location"]["row"])
