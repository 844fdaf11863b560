"""The Python that has torch, and the table at the end of a run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from _pytest.terminal import TerminalReporter

from dllint.registry import registry

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # tests/harness.py, where this folder is run alone


def pytest_addoption(parser: pytest.Parser) -> None:
    """Another Python, so that the same programs are run on another torch."""
    parser.addoption("--torch-python", metavar="PATH", default=sys.executable, help="the Python that has torch")


@pytest.fixture(scope="session")
def torch_python(request: pytest.FixtureRequest) -> str:
    """The Python that has torch."""
    return str(request.config.getoption("torch_python", default=sys.executable))


@pytest.fixture(scope="session")
def torch_version(torch_python: str) -> str:
    """The release of torch there; the test is skipped where there is none."""
    words = [torch_python, "-c", "import torch; print(torch.__version__)"]
    found = subprocess.run(words, capture_output=True, text=True)
    if found.returncode:
        pytest.skip("torch is not installed: pip install -e '.[evidence]'")
    return found.stdout.strip()


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """What was shown of each rule, and what its page says."""
    shown: dict[str, list[str]] = {}
    for word in ("passed", "failed", "skipped"):
        for report in terminalreporter.stats.get(word, ()):
            for code, text in report.user_properties:
                shown.setdefault(code, []).append(f"{text} {word}" if word != "passed" else text)
    if not shown:
        return
    releases = {text.split()[0] for text in shown.pop("torch")}
    terminalreporter.section(f"evidence on torch {' and '.join(sorted(releases))}")
    for code, rule in registry().items():
        if rule.basis:
            terminalreporter.line(f"{code}  {rule.basis.text}")
            for text in sorted(shown.get(code, ())):
                terminalreporter.line(f"        {text}")
    grades = [rule.basis.grade.value for rule in registry().values() if rule.basis]
    counts = ", ".join(f"{grades.count(grade)} {grade}" for grade in dict.fromkeys(grades))
    terminalreporter.line(f"{len(grades)} rules: {counts}")
