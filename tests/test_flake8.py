"""The plugin, in the real flake8."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from flake8.main.application import Application
from hosts import dllint, flake8, in_python, places, program, showcase, written

from dllint import whole

LOADER = "from torch.utils.data import DataLoader\n\n"
FAULTY = LOADER + "loader = DataLoader([1], num_workers=0, prefetch_factor=2)\n"
OPT_IN = LOADER + 'if __name__ == "__main__":\n    loader = DataLoader([1], num_workers=4)\n'
"""DLL409, which is off by default."""
PICKLED = LOADER + "loader = DataLoader([1], num_workers=2, collate_fn=lambda items: items)\n"
"""DLL501 and DLL502, but not where workers are forked."""
OLDEST = "6.0.0"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return showcase(tmp_path / "show")


def codes(printed: str) -> list[str]:
    return sorted(place.code for place in places(printed))


# --- what is found ---


@pytest.mark.parametrize("words", [(), ("--jobs", "2"), ("--jobs", "1", "--select", "DLL"), ("--select", "E,F,B,DLL")])
def test_flake8_finds_what_the_command_finds(project: Path, words: tuple[str, ...]) -> None:
    run = flake8(*words, ".", cwd=project)
    assert (run.returncode, run.stderr) == (1, "")
    expected = in_python(places(dllint(".", cwd=project).stdout))
    assert len(expected) > 5
    assert places(run.stdout) == expected


@pytest.fixture(scope="module")
def oldest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the oldest flake8 that is supported."""
    folder = tmp_path_factory.mktemp("flake8")
    command = [sys.executable, "-m", "pip", "install", "-q", "--target", str(folder), f"flake8=={OLDEST}"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if run.returncode:
        pytest.skip(f"flake8 {OLDEST} cannot be had: {run.stderr[-300:]}")
    return folder


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_oldest_flake8_finds_the_same(project: Path, oldest: Path, jobs: str) -> None:
    older = {"PYTHONPATH": str(oldest)}
    assert flake8("--version", cwd=project, more=older).stdout.startswith(OLDEST)
    run = flake8("--jobs", jobs, "--select", "DLL", ".", cwd=project, more=older)
    assert (run.returncode, run.stderr) == (1, "")
    assert places(run.stdout) == in_python(places(dllint(".", cwd=project).stdout))


SPAWNING = """
import multiprocessing, sys
multiprocessing.set_start_method("spawn")
from flake8.main.cli import main
sys.exit(main(["--jobs", "2", "--select", "DLL40", "."]))
"""


def test_processes_that_start_from_nothing_are_told_the_options_anew(project: Path) -> None:
    run = program(sys.executable, "-c", SPAWNING, cwd=project)
    expected = in_python(places(dllint("--select", "DLL40", ".", cwd=project).stdout))
    assert (places(run.stdout), run.stderr) == (expected, "")
    assert {place.code for place in expected} >= {"DLL401", "DLL402", "DLL407"}


def test_one_file_is_seen_in_its_project(project: Path) -> None:
    run = flake8("--select", "DLL", "transforms.py", cwd=project)
    assert {"DLL101", "DLL102"} <= set(codes(run.stdout)), "workers are started in train.py"
    assert places(run.stdout) == places(dllint("transforms.py", cwd=project).stdout)


def test_columns_count_characters(tmp_path: Path) -> None:
    text = LOADER + 'size = {"größe": 2}; loader = DataLoader([1], num_workers=0, prefetch_factor=2)\n'
    project = written(tmp_path, a=text)
    found = places(flake8("--select", "DLL", ".", cwd=project).stdout)
    assert found == places(dllint(".", cwd=project).stdout)
    assert {place.column for place in found} == {text.splitlines()[2].index("prefetch") + 1}


def test_other_plugins_find_what_they_found_before(project: Path) -> None:
    (project / "extra.py").write_text("def f(x=[]):\n    pass\n\n\nfor i in [1]:\n    print(lambda: i)\n" + FAULTY)
    alone = flake8("--select", "B,E,F", ".", cwd=project).stdout.splitlines()
    together = flake8("--select", "B,E,F,DLL", ".", cwd=project).stdout.splitlines()
    assert any(" B006 " in line for line in alone)
    assert [line for line in together if " DLL" not in line] == alone
    assert len(together) > len(alone)


def test_what_does_not_parse_is_reported_once(tmp_path: Path) -> None:
    project = written(tmp_path, a=LOADER + "(\n", b=FAULTY)
    run = flake8(".", cwd=project)
    assert [line.split()[1] for line in run.stdout.splitlines() if line.startswith("./a.py")].count("E999") == 1
    assert codes(run.stdout) == ["DLL402"], "the other file is checked all the same"


def test_bytes_that_no_encoding_has_are_reported_once(tmp_path: Path) -> None:
    project = written(tmp_path)
    (project / "a.py").write_bytes(b"import torch  # \xff\n" + FAULTY.encode())
    run = flake8("--select", "DLL,E9", ".", cwd=project)
    assert [line.split()[1] for line in run.stdout.splitlines()] == ["DLL001"]
    assert places(run.stdout) == places(dllint(".", cwd=project).stdout)


# --- standard input, as editors use it ---


def test_unsaved_text_takes_the_place_of_its_file(project: Path) -> None:
    text = (project / "transforms.py").read_text(encoding="utf-8")
    expected = places(dllint("transforms.py", cwd=project).stdout)
    (project / "transforms.py").write_text("def training():\n    return None\n")
    run = flake8("--select", "DLL", "--stdin-display-name", "transforms.py", "-", cwd=project, text=text)
    assert places(run.stdout) == expected


def test_text_without_a_name_is_linted(tmp_path: Path) -> None:
    run = flake8("--select", "DLL", "-", cwd=written(tmp_path), text=FAULTY)
    assert run.stdout.startswith("stdin:3:")
    assert codes(run.stdout) == ["DLL402"]


def test_unsaved_text_in_another_encoding(tmp_path: Path) -> None:
    text = "# -*- coding: latin-1 -*-\n" + FAULTY + "name = 'größe'\n"
    run = flake8("--select", "DLL", "--stdin-display-name", "a.py", "-", cwd=tmp_path, text=text.encode("latin-1"))
    assert codes(run.stdout) == ["DLL402"]


def test_excluded_files_are_silent_even_when_named(tmp_path: Path) -> None:
    project = written(tmp_path, a=FAULTY, b=FAULTY)
    (project / "dllint.toml").write_text('extend-exclude = ["a.py"]\n')
    assert {place.path for place in places(flake8("a.py", "b.py", cwd=project).stdout)} == {"b.py"}
    assert not places(flake8("--stdin-display-name", "a.py", "-", cwd=project, text=FAULTY).stdout)


# --- which rules run ---


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ((), []),
        (("--select", "DLL"), []),
        (("--extend-select", "DLL409"), ["DLL409"]),
        (("--select", "DLL409"), ["DLL409"]),
        (("--select", "DLL40,E"), ["DLL409"]),
        (("--ignore", "E501"), []),
        (("--extend-select", "DLL409", "--extend-ignore", "DLL409"), []),
    ],
)
def test_opt_in_rules_are_off_until_asked_for(tmp_path: Path, words: tuple[str, ...], found: list[str]) -> None:
    assert codes(flake8(*words, ".", cwd=written(tmp_path, a=OPT_IN)).stdout) == found


def test_opt_in_rules_of_the_project_settings_are_on(tmp_path: Path) -> None:
    project = written(tmp_path, a=OPT_IN)
    (project / "pyproject.toml").write_text('[tool.dllint]\nextend-select = ["DLL409"]\n')
    assert codes(flake8(".", cwd=project).stdout) == ["DLL409"]
    assert codes(flake8("--extend-ignore", "DLL409", ".", cwd=project).stdout) == []


def test_a_rule_that_flake8_ignores_hides_no_other(tmp_path: Path) -> None:
    project = written(tmp_path, a=PICKLED)
    for code in codes(flake8("--select", "DLL", ".", cwd=project).stdout):
        left = codes(dllint("--ignore", code, ".", cwd=project).stdout)
        assert codes(flake8("--select", "DLL", "--ignore", code, ".", cwd=project).stdout) == left


# --- settings ---


@pytest.mark.parametrize("words", [("--dllint-platforms", "linux,windows"), ("--dllint-start-method", "spawn")])
def test_options_of_flake8_reach_dllint(tmp_path: Path, words: tuple[str, ...]) -> None:
    project = written(tmp_path, a=PICKLED)
    (project / "dllint.toml").write_text('platforms = ["linux"]\ntarget-python = "3.12"\n')
    assert codes(flake8(".", cwd=project).stdout) == []
    assert "DLL502" in codes(flake8(*words, ".", cwd=project).stdout)


def test_options_may_stand_in_the_settings_of_flake8(tmp_path: Path) -> None:
    project = written(tmp_path, a=PICKLED)
    assert "DLL502" in codes(flake8(".", cwd=project).stdout)
    (project / "other.toml").write_text('target-python = "3.12"\n')
    (project / ".flake8").write_text("[flake8]\ndllint-platforms = linux\ndllint-config = other.toml\n")
    assert codes(flake8(".", cwd=project).stdout) == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--dllint-platforms", "amiga"), 'platforms must be a list of "linux"'),
        (("--dllint-max-workers", "none"), "max-workers must be a whole number"),
        (("--dllint-config", "nowhere.toml"), "nowhere.toml: cannot be read"),
    ],
)
def test_wrong_settings_are_told(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    run = flake8(*words, ".", cwd=written(tmp_path, a=FAULTY))
    assert run.returncode == 1
    assert told in run.stdout
    assert "Traceback" not in run.stdout + run.stderr


def test_what_the_baseline_knows_is_not_reported(tmp_path: Path) -> None:
    project = written(tmp_path, a=FAULTY)
    (project / "dllint.toml").write_text('baseline = "known.json"\n')
    assert dllint("--write-baseline", ".", cwd=project).returncode == 0
    (project / "a.py").write_text(FAULTY + "other = DataLoader([1], num_workers=-1)\n")
    assert codes(flake8("--select", "DLL", ".", cwd=project).stdout) == ["DLL405"]


# --- suppressions ---


@pytest.mark.parametrize(
    ("comment", "hidden", "hidden_without_noqa"),
    [
        ("# noqa", True, False),
        ("# noqa: DLL402", True, False),
        ("# noqa: E501", False, False),
        ("# dllint: ignore[DLL402] measured", True, True),
    ],
)
def test_comments_suppress(tmp_path: Path, comment: str, hidden: bool, hidden_without_noqa: bool) -> None:
    project = written(tmp_path, a=FAULTY.rstrip() + f"  {comment}\n")
    assert codes(flake8(".", cwd=project).stdout) == ([] if hidden else ["DLL402"])
    assert codes(flake8("--disable-noqa", ".", cwd=project).stdout) == ([] if hidden_without_noqa else ["DLL402"])


# --- how much it does ---


class Counter:
    """Calls through, and counts."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.count = 0

    def __call__(self, *words: Any, **more: Any) -> Any:
        self.count += 1
        return self.inner(*words, **more)


def test_a_project_is_analysed_once(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    analysed = Counter(whole.WholeProject)
    monkeypatch.setattr(whole, "WholeProject", analysed)
    monkeypatch.chdir(project)
    for words in (["transforms.py"], ["--jobs", "1", "."]):
        analysed.count = 0
        application = Application()
        application.run(["--select", "DLL", "--output-file", "out.txt", *words])
        assert application.result_count > 0
        assert analysed.count == 1


def test_the_tree_of_flake8_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = Counter(ast.parse)
    monkeypatch.chdir(written(tmp_path, a=FAULTY))
    monkeypatch.setattr(ast, "parse", parsed)
    Application().run(["--select", "DLL", "--output-file", "out.txt", "a.py"])
    assert codes((tmp_path / "out.txt").read_text()) == ["DLL402"]
    assert parsed.count == 1, "by flake8"


CLASS = """
class Clips{number}(Dataset):
    def __init__(self, paths, size):
        self.paths = paths
        self.size = size

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        sample = np.load(self.paths[index])
        if sample.shape[0] > self.size:
            sample = sample[: self.size]
        return sample * {number}


def loader{number}(paths, workers):
    return DataLoader(Clips{number}(paths, 8), batch_size=4, num_workers=workers, timeout=60)

"""
FUNCTION = """
def smooth{number}(values, width):
    result = []
    for start in range(0, len(values), width):
        part = values[start : start + width]
        if not part:
            continue
        result.append(sum(part) / len(part) * {number})
    return result

"""


def test_a_file_of_500_lines_costs_less_than_50_ms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = "import numpy as np\nfrom torch.utils.data import DataLoader, Dataset\n\n"
    classes = "\n".join(CLASS.format(number=number) for number in range(6))
    functions = "\n".join(FUNCTION.format(number=number) for number in range(35))
    text = head + classes + functions
    assert 490 < text.count("\n") < 520
    monkeypatch.chdir(written(tmp_path, a=text))

    def seconds(*words: str) -> float:
        start = time.process_time()
        Application().run(["--output-file", "out.txt", *words, "a.py"])
        return time.process_time() - start

    runs = [(seconds(), seconds("--extend-ignore", "DLL")) for _ in range(9)]
    own = min(without for _, without in runs)
    more = min(with_us for with_us, _ in runs) - own
    # The least of each is what the code takes; flake8's own 140 ms tell a machine of the speed that the 50 ms hold for.
    assert more < 0.05 * max(1.0, own / 0.14)
