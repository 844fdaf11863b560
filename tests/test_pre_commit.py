"""The hook, in the real pre-commit, on real repositories."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from hooked import Hooked, git, home, hook, hooked, pre_commit, project
from hosts import dllint, places, showcase

from dllint import kinds
from dllint.files import kind_of
from harness import ROOT

__all__ = ["home", "hook", "hooked", "project"]


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
    hooked.stage("notes.txt", "Notes\n=====\n")
    run = hooked.run()
    assert (run.returncode, places(run.stdout)) == (0, set())
    assert "Skipped" in run.stdout
    hooked.configure("always_run: true")
    hooked.stage("notes.txt", "More notes\n==========\n")
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
    names += [f"{start}gpu" for start in kinds._DOCKERFILE_STARTS]
    names += [f"v1.2{end}" for end in kinds._DOCKERFILE_ENDS]
    assert all(kind_of(name) for name in names)
    assert [name for name in names if not hook_pattern().search(f"folder/{name}")] == []
    assert [name for name in names if not hook_pattern().search(name)] == []


@pytest.mark.parametrize("name", ["notes.txt", "style.css", "a.pyc", "README.txt", "x.md/picture.svg"])
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
