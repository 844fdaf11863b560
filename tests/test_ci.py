"""What runs in CI: the action, the workflows and the snippets of README.md, with the programs that judge them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
BIN = Path(sys.executable).parent
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
SCRIPT = """\
from torch.utils.data import DataLoader, TensorDataset

for batch in DataLoader(TensorDataset(), num_workers=4):
    print(batch)
"""


def block(language: str, word: str) -> str:
    """The one block of README.md in a language that holds a word."""
    (found,) = [text for name, text in BLOCKS if name == language and word in text]
    return str(found)


@pytest.fixture
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with one fault. Its path says nothing of tests."""
    folder = tmp_path_factory.mktemp("clips") / "my project"
    folder.mkdir()
    (folder / "train.py").write_text(SCRIPT, encoding="utf-8")
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "--all"], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *words], cwd=folder, check=True)
    return folder


def bash(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script as a runner of CI does."""
    path = os.pathsep.join((str(BIN), os.environ["PATH"]))
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],
        cwd=folder, env={**os.environ, "PATH": path, **environment}, capture_output=True, text=True,
    )  # fmt: skip


# --- zizmor ---


def zizmor(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(BIN / "zizmor"), "--offline", *words], capture_output=True, text=True)


def test_zizmor_passes_the_action_and_the_workflows() -> None:
    done = zizmor(str(ROOT / "action.yml"), str(ROOT / ".github" / "workflows"), str(ROOT / ".pre-commit-hooks.yaml"))
    assert done.returncode == 0, done.stdout
    assert "No findings to report" in done.stdout


def test_zizmor_passes_the_workflow_of_the_readme_and_would_say_what_is_wrong(tmp_path: Path) -> None:
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    workflow = folder / "dllint.yml"
    workflow.write_text(block("yaml", "upload-sarif"), encoding="utf-8")
    # A commit of dllint's own cannot name itself.
    policy = {"rules": {"unpinned-uses": {"config": {"policies": {"dllint/*": "ref-pin", "*": "hash-pin"}}}}}
    config = tmp_path / "zizmor.yml"
    config.write_text(yaml.safe_dump(policy), encoding="utf-8")
    done = zizmor("--config", str(config), str(workflow))
    assert done.returncode == 0, done.stdout
    workflow.write_text(workflow.read_text().replace("@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0", "@v5"))
    assert zizmor("--config", str(config), str(workflow)).returncode != 0


def test_all_hashes_have_their_version_beside_them() -> None:
    texts = [(ROOT / "action.yml").read_text(), README, *(p.read_text() for p in ROOT.glob(".github/workflows/*.yml"))]
    used = [use for text in texts for use in re.findall(r"uses: (?!dllint/)(\S+.*)", text)]
    assert len(used) >= 4
    assert [use for use in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use)] == []


# --- the action ---


@pytest.fixture(scope="module")
def action() -> dict[str, Any]:
    """The action, as GitHub reads it."""
    found: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    return found


def own_copy(folder: Path) -> Path:
    """What the action is checked out as: a build writes into it, and other tests build, too."""
    for name in ("dllint", "rules"):
        shutil.copytree(ROOT / name, folder / "action" / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / "action" / name)
    return folder / "action"


def test_the_action_lints_and_writes_sarif(action: dict[str, Any], project: Path, tmp_path: Path) -> None:
    install, lint, upload = action["runs"]["steps"]
    told = tmp_path / "output"
    places = {"RUNNER_TEMP": str(tmp_path), "GITHUB_ACTION_PATH": str(own_copy(tmp_path)), "GITHUB_OUTPUT": str(told)}
    (project / "shlex.py").write_text("raise SystemExit('what is checked was run')\n")
    done = bash(install["run"], project, VERSION="", **places)
    assert done.returncode == 0, done.stderr
    (name, folder) = told.read_text().strip().split("=", 1)
    assert lint["env"]["BIN"] == f"${{{{ steps.install.outputs.{name} }}}}"
    assert lint["env"]["WORDS"] == "${{ inputs.args }} -- ${{ inputs.paths }}"

    words = "--select 'DLL501, DLL502' -- 'train.py'"
    done = bash(lint["run"], project, BIN=folder, WORDS=words, SARIF="found.sarif", **places)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::error title=dllint (DLL501),file=train.py,line=3,")
    assert len(done.stdout.splitlines()) == 1
    assert told.read_text().splitlines()[-1] == "sarif=found.sarif"
    assert upload["with"]["sarif_file"] == "${{ steps.lint.outputs.sarif }}"
    (run,) = json.loads((project / "found.sarif").read_text())["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["DLL501"]

    hostile = bash(lint["run"], project, BIN=folder, WORDS='-- "$(touch hacked)" `touch hacked`', SARIF="", **places)
    assert hostile.returncode == 2
    assert not (project / "hacked").exists()


def test_inputs_reach_scripts_as_variables_only(action: dict[str, Any]) -> None:
    steps = action["runs"]["steps"]
    assert [step["run"] for step in steps if "${{" in step.get("run", "")] == []
    used = set(re.findall(r"inputs\.([a-z-]+)", json.dumps(steps)))
    assert used == set(action["inputs"])
    assert all(given["description"] and "default" in given for given in action["inputs"].values())


# --- the snippets of README.md ---


def test_the_gitlab_job_reports_what_it_says(project: Path) -> None:
    (job,) = yaml.safe_load(block("yaml", "codequality")).values()
    install, *script = job["script"]
    assert install == "pip install --quiet dllint"
    done = bash("\n".join(script), project)
    assert done.returncode == 1
    assert "train.py:3:1: DLL501" in done.stdout
    (issue,) = json.loads((project / job["artifacts"]["reports"]["codequality"]).read_text())
    assert issue["location"] == {"path": "train.py", "lines": {"begin": 3, "end": 4}}
    assert set(issue) == {"check_name", "description", "severity", "fingerprint", "location"}


def test_the_commands_for_old_code_do_what_they_say(project: Path) -> None:
    write, check, new, comment = block("bash", "--write-baseline").splitlines()
    assert bash("dllint", project).returncode == 1
    assert bash(new, project).returncode == 0
    assert bash(write, project).returncode == 0
    assert bash(check, project).returncode == 0
    (project / "more.py").write_text(SCRIPT)
    assert "more.py:3:1: DLL501" in bash(check, project).stdout
    assert "more.py:3:1: DLL501" in bash(new, project).stdout
    assert bash(comment, project).returncode == 0
    assert bash("dllint", project).returncode == 0


def test_the_baseline_of_the_settings_does_what_it_says(project: Path) -> None:
    text = block("toml", "baseline =")
    assert text == '[tool.dllint]\nbaseline = ".dllint-baseline.json"\n'
    (project / "pyproject.toml").write_text(text)
    assert bash("dllint --write-baseline && dllint", project).returncode == 0


def test_the_other_reports(project: Path) -> None:
    done = bash(block("bash", "junit").replace("\n", " || true\n", 1), project)
    assert json.loads(done.stdout)["source"]["name"] == "dllint"
    assert sorted(path.name for path in project.glob("*.xml")) == ["checkstyle.xml", "dllint.xml"]
