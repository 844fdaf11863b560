"""Real repositories, and this project as the repository of a hook, for the real pre-commit."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hosts import program, showcase

from harness import ROOT

SHIPPED = ("dllint", "rules", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")
AUTHOR = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
UNINSTALLABLE = re.compile(r"No matching distribution|ConnectionError|Could not find a version|Connection refused")
Run = subprocess.CompletedProcess[str]


def git(*words: str, cwd: Path) -> str:
    run = program("git", *words, cwd=cwd, more=AUTHOR)
    assert run.returncode == 0, run.stderr
    return run.stdout


def committed(folder: Path) -> Path:
    """A repository of all that lies in the folder."""
    shutil.rmtree(folder / ".git", ignore_errors=True)
    git("init", "-q", ".", cwd=folder)
    git("add", "--all", cwd=folder)
    git("commit", "-q", "-m", "All", cwd=folder)
    return folder


def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all processes of pytest-xdist: making the environment of a hook takes seconds."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="module")
def hook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This project as a repository that has the hook, as it stands in the folder."""
    folder = tmp_path_factory.mktemp("dllint")
    shared = shared_folder(tmp_path_factory) / "hook"
    for name in SHIPPED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    try:
        committed(folder).rename(shared)
    except OSError:  # another process of the tests was faster
        assert (shared / ".git").is_dir()
    return shared


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps the environment of the hook."""
    return shared_folder(tmp_path_factory) / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return committed(showcase(tmp_path / "show"))


class Hooked:
    """A project whose settings for pre-commit name the hook."""

    def __init__(self, folder: Path, hook: Path, home: Path) -> None:
        self.folder = folder
        self._hook = hook
        self._home = home

    def configure(self, *lines: str) -> None:
        """Commit a configuration with these lines besides."""
        revision = git("rev-parse", "HEAD", cwd=self._hook).strip()
        text = f"repos:\n- repo: {self._hook}\n  rev: {revision}\n  hooks:\n  - id: dllint\n"
        (self.folder / ".pre-commit-config.yaml").write_text(text + "".join(f"    {line}\n" for line in lines))
        git("add", "--all", cwd=self.folder)
        git("commit", "-q", "-m", "Hook", cwd=self.folder)

    def stage(self, name: str, text: str) -> None:
        """Change a file and stage it."""
        (self.folder / name).write_text(text)
        git("add", name, cwd=self.folder)

    def run(self, *words: str) -> Run:
        """`pre-commit run`."""
        return pre_commit("run", *words, cwd=self.folder, home=self._home)


def pre_commit(*words: str, cwd: Path, home: Path) -> Run:
    run = program("pre-commit", *words, cwd=cwd, more={"PRE_COMMIT_HOME": str(home), **AUTHOR})
    if UNINSTALLABLE.search(run.stdout + run.stderr):
        pytest.skip("the hook's environment needs a package index")
    return run


@pytest.fixture
def hooked(project: Path, hook: Path, home: Path) -> Hooked:
    made = Hooked(project, hook, home)
    made.configure()
    return made
