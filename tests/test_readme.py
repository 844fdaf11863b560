"""What README.md gives to copy and paste does what it says, in the programs that it is meant for."""

from __future__ import annotations

import json
import re
from pathlib import Path

import yaml
from hooked import committed, git, home, hook, pre_commit
from hosts import dllint, flake8, places, program, showcase, written

from dllint import flake8_plugin, kinds
from dllint.files import kind_of
from harness import ROOT

__all__ = ["home", "hook"]

README = (ROOT / "README.md").read_text(encoding="utf-8")
TORCH = "from torch.utils.data import DataLoader\n\n"
OPT_IN = TORCH + 'if __name__ == "__main__":\n    loader = DataLoader([1], num_workers=4)\n'
"""DLL409, which is off by default."""
LAMBDA = TORCH + "loader = DataLoader([1], num_workers=2, timeout=9, collate_fn=lambda items: items)\n"
"""DLL501 and DLL502, where workers are spawned."""
RENDERED = """apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  containers:
    - name: train
      image: pytorch/pytorch:2.7.0-cuda12.8-cudnn9-runtime
      command: ["python", "train.py"]
      resources:
        limits:
          nvidia.com/gpu: 1
"""


def section(title: str) -> str:
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## )", README, re.MULTILINE | re.DOTALL)
    assert found, title
    return str(found[1])


def block(title: str, language: str, number: int = 0) -> str:
    """A fenced block of a section."""
    found: list[str] = re.findall(rf"^```{language}\n(.*?)^```$", section(title), re.MULTILINE | re.DOTALL)
    return found[number]


def command(title: str, start: str) -> list[str]:
    """The words of the line in a section that starts so."""
    (line,) = re.findall(rf"^    ({start}.*)$", section(title), re.MULTILINE)
    return str(line).split()


FLAKE8 = "In editors, through flake8"


def test_the_command_of_flake8(tmp_path: Path) -> None:
    project = showcase(tmp_path / "show")
    words = command(FLAKE8, "flake8 ")
    found = places(flake8(*words[1:], cwd=project).stdout)
    assert found == places(dllint(words[-1], cwd=project).stdout)
    assert found


def test_the_settings_of_flake8(tmp_path: Path) -> None:
    project = written(tmp_path, a=OPT_IN, b=LAMBDA)
    before = {place.code for place in places(flake8(".", cwd=project).stdout)}
    assert "DLL502" in before and "DLL409" not in before
    (project / ".flake8").write_text(block(FLAKE8, "ini"))
    assert {place.code for place in places(flake8(".", cwd=project).stdout)} == {"DLL409"}


def test_all_options_of_the_plugin_are_told() -> None:
    told = set(re.findall(r"dllint-([a-z-]+)", section(FLAKE8))) - {"platforms=linux"}
    assert told == {"config", *flake8_plugin.OPTIONS}


def test_the_settings_of_visual_studio_code(tmp_path: Path) -> None:
    arguments = json.loads(block(FLAKE8, "json"))["flake8.args"]
    # As the extension calls it.
    words = [*arguments, "--stdin-display-name", str(tmp_path / "a.py"), "-"]
    run = flake8(*words, cwd=written(tmp_path), text=OPT_IN)
    assert {place.code for place in places(run.stdout)} == {"DLL409"}


HOOK = "As a hook of pre-commit"


def configured(text: str, folder: Path, hook: Path) -> Path:
    """A repository with this configuration, its hook taken from this very project instead of the published one."""
    project = showcase(folder)
    document = yaml.safe_load(text)
    (entry,) = document["repos"]
    assert entry["repo"] == "https://github.com/dllint/dllint"
    entry |= {"repo": str(hook), "rev": git("rev-parse", "HEAD", cwd=hook).strip()}
    (project / ".pre-commit-config.yaml").write_text(yaml.safe_dump(document))
    committed(project)
    (project / "train.py").write_text((project / "train.py").read_text() + "\n")
    git("add", "train.py", cwd=project)
    return project


def test_the_configuration_of_the_hook(tmp_path: Path, hook: Path, home: Path) -> None:
    project = configured(block(HOOK, "yaml"), tmp_path / "show", hook)
    found = places(pre_commit("run", cwd=project, home=home).stdout)
    assert found == places(dllint("train.py", cwd=project).stdout)
    assert {place.path for place in found} == {"train.py"}


def test_the_configuration_for_the_whole_project(tmp_path: Path, hook: Path, home: Path) -> None:
    head = block(HOOK, "yaml").partition("      - id")[0]
    project = configured(head + block(HOOK, "yaml", 1), tmp_path / "show", hook)
    assert places(pre_commit("run", cwd=project, home=home).stdout) == places(dllint(".", cwd=project).stdout)


def test_the_pipe_of_helm(tmp_path: Path) -> None:
    project = showcase(tmp_path / "show")
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "helm").write_text(f"#!/bin/sh\ncat <<'END'\n{RENDERED}END\n")
    (tools / "helm").chmod(0o755)
    line = " ".join(command("Standard input", "helm "))
    run = program("sh", "-c", f'PATH="{tools}:$PATH"; {line}', cwd=project)
    assert [(place.path, place.code) for place in places(run.stdout)] == [("speech.yaml", "DLL701")]


def test_all_names_for_standard_input_are_known() -> None:
    names = re.findall(r"`([\w.]+)`", section("Standard input"))
    assert len(names) >= 8
    assert {kind_of(name) for name in names} >= {kinds.Kind.PYTHON, kinds.Kind.NOTEBOOK, kinds.Kind.DOCKERFILE}
    assert [name for name in names if kind_of(name) is None] == []


def test_ruff_lets_the_comments_be(tmp_path: Path) -> None:
    line = "x = 1  # noqa: DLL201\n"
    for settings, left in (("", "x = 1\n"), (block("Suppressing findings", "toml"), line)):
        (tmp_path / "pyproject.toml").write_text(settings)
        (tmp_path / "a.py").write_text(line)
        program("ruff", "check", "--no-cache", "--select", "RUF100,RUF102", "--fix", "a.py", cwd=tmp_path)
        assert (tmp_path / "a.py").read_text() == left
