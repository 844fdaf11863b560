"""The documentation says what the program does."""

from __future__ import annotations

import re
import subprocess
import sys

from dllint.registry import registry
from dllint.settings import KEYS, Settings
from harness import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def dllint(*arguments: str) -> str:
    command = [sys.executable, "-c", "import sys; from dllint.cli import main; sys.exit(main())", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True).stdout


def test_rules_readme_is_what_the_rules_say() -> None:
    told = dllint("rules", "--output-format", "markdown")
    kept = (ROOT / "rules" / "README.md").read_text(encoding="utf-8")
    assert kept == told, "write it anew: dllint rules --output-format markdown >rules/README.md"


def test_ci_runs_the_two_commands_of_the_readme() -> None:
    commands = re.findall(r"^    (python3 -m venv .*)$", README, re.MULTILINE)
    assert len(commands) == 2
    assert [command for command in commands if command not in CI.splitlines()] == []


def test_the_finding_in_the_readme_is_a_real_one() -> None:
    shown = re.findall(r"^fixtures/showcase/\S+:\d+:\d+: DLL\d{3} .*$", README, re.MULTILINE)
    printed = dllint("check", "--exit-zero", "fixtures/showcase").splitlines()
    assert shown
    assert [line for line in shown if line not in printed] == []


def test_the_settings_table_is_complete() -> None:
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| (.*?) \|", README, re.MULTILINE))
    assert set(rows) == set(KEYS)
    assert rows["max-workers"] == f"`{Settings().max_workers}`"
    assert rows["max-batches-in-flight"] == f"`{Settings().max_batches_in_flight}`"


def test_every_option_in_the_readme_exists() -> None:
    told = set(re.findall(r"`(--[a-z-]+)", README.partition("## Rules")[0]))
    offered = set(re.findall(r"--[a-z-]+", dllint("check", "--help")))
    assert told <= offered


def test_every_code_in_the_documentation_exists() -> None:
    text = README + (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert set(re.findall(r"DLL\d{3}", text)) <= set(registry())
