"""The hook, in the real pre-commit, on real repositories."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from hosts import dllint, places, program, showcase

from dllint import kinds
from dllint.files import kind_of
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


def test_try_repo_reports_what_has_changed_and_nothing_else(project: Path, hook: Path, tmp_path: Path) -> None:
    text = (project / "transforms.py").read_text(encoding="utf-8")
    (project / "transforms.py").write_text(text + "\n")
    git("add", "transforms.py", cwd=project)
    run = pre_commit("try-repo", str(hook), "dllint", cwd=project, home=tmp_path / "home")
    assert run.returncode == 1
    assert "- exit code: 1" in run.stdout
    found = places(run.stdout)
    assert found == places(dllint("transforms.py", cwd=project).stdout)
    assert {place.path for place in found} == {"transforms.py"}
    assert "DLL101" in {place.code for place in found}, "workers are started in train.py"


def test_all_files_are_reported_as_the_command_does(hooked: Hooked) -> None:
    run = hooked.run("--all-files")
    assert run.returncode == 1
    assert places(run.stdout) == places(dllint(".", cwd=hooked.folder).stdout)


def test_only_staged_files_are_reported(hooked: Hooked) -> None:
    hooked.stage("k8s/job.yaml", (hooked.folder / "k8s/job.yaml").read_text() + "# more\n")
    found = places(hooked.run().stdout)
    assert {place.path for place in found} == {"k8s/job.yaml"}
    assert "DLL710" in {place.code for place in found}, "8 workers are started in train.py"


def test_a_sound_file_passes(hooked: Hooked) -> None:
    hooked.stage("fine.py", "print('fine')\n")
    run = hooked.run()
    assert run.returncode == 0
    assert "Passed" in run.stdout


def test_no_file_means_nothing_to_do(hooked: Hooked) -> None:
    hooked.stage("notes.rst", "Notes\n=====\n")
    run = hooked.run()
    assert (run.returncode, places(run.stdout)) == (0, set())
    assert "Skipped" in run.stdout
    hooked.configure("always_run: true")
    hooked.stage("notes.rst", "More notes\n==========\n")
    run = hooked.run("--verbose")
    assert (run.returncode, places(run.stdout)) == (0, set())
    assert "Passed" in run.stdout


def test_the_whole_project_can_be_asked_for(hooked: Hooked) -> None:
    hooked.configure("pass_filenames: false", 'args: ["."]')
    hooked.stage("fine.py", "print('fine')\n")
    assert places(hooked.run().stdout) == places(dllint(".", cwd=hooked.folder).stdout)


def test_excluded_files_and_other_settings_hold(hooked: Hooked) -> None:
    (hooked.folder / "dllint.toml").write_text('extend-exclude = ["train.py"]\nignore = ["DLL7"]\n')
    found = places(hooked.run("--all-files").stdout)
    assert found == places(dllint(".", cwd=hooked.folder).stdout)
    assert found
    assert not [place for place in found if place.path == "train.py" or place.code.startswith("DLL7")]


def test_wrong_settings_fail_with_their_message(hooked: Hooked) -> None:
    (hooked.folder / "dllint.toml").write_text("colour = true\n")
    run = hooked.run("--all-files")
    assert run.returncode == 1
    assert "- exit code: 2" in run.stdout
    assert "unknown setting 'colour'" in run.stdout


# --- without pre-commit: the names that it hands over, and what becomes of them ---


def hook_pattern() -> re.Pattern[str]:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    return re.compile(hook["files"])


def test_the_hook_takes_all_names_that_dllint_reads() -> None:
    names = [*kinds._NAMES, *(f"x{suffix}" for suffix in kinds._SUFFIXES)]
    names += [f"{start}gpu" for start in kinds._DOCKERFILE_NAMES]
    assert all(kind_of(name) for name in names)
    assert [name for name in names if not hook_pattern().search(f"folder/{name}")] == []
    assert [name for name in names if not hook_pattern().search(name)] == []


@pytest.mark.parametrize("name", ["notes.rst", "style.css", "a.pyc", "README.txt", "x.md/picture.svg"])
def test_the_hook_takes_no_other_names(name: str) -> None:
    assert not hook_pattern().search(name)


def test_a_script_without_a_suffix_is_what_its_first_line_says(tmp_path: Path) -> None:
    project = showcase(tmp_path / "show")
    run = "docker run --gpus all pytorch/pytorch:2.7.0-cuda12.8-cudnn9-runtime python train.py"
    for name, text in {
        "LICENSE": "Do what you like (\n",
        "start": f"#!/bin/sh\n{run}\n",
        "learn": "#!/usr/bin/env python3\nfrom torch.utils.data import DataLoader\nDataLoader([1], num_workers=-1)\n",
    }.items():
        (project / name).write_text(text)
        (project / name).chmod(0o644 if name == "LICENSE" else 0o755)
    found = places(dllint("check", "--hook", "LICENSE", "start", "learn", cwd=project).stdout)
    assert {(place.path, place.row, place.code) for place in found} >= {("start", 2, "DLL701"), ("learn", 3, "DLL405")}
    whole = places(dllint(".", cwd=project).stdout)
    assert {place for place in whole if place.path in ("LICENSE", "start", "learn")} == found


def test_a_file_that_does_not_parse_is_reported_only_where_it_matters(tmp_path: Path) -> None:
    project = showcase(tmp_path / "show")
    (project / "template.py").write_text("{{ name }} = {% if %}\n")
    (project / "broken.py").write_text("import torch\nfrom torch.utils.data import DataLoader\n(\n")
    assert {place.path for place in places(dllint("--hook", "template.py", "broken.py", cwd=project).stdout)} == {
        "broken.py"
    }
    assert [place.code for place in places(dllint("template.py", cwd=project).stdout)] == ["DLL001"]
