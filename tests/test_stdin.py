"""Standard input takes the place of the file that it is named after, in each language that dllint reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from hosts import dllint, places, showcase, unpacked, written

from dllint.files import Kind, kind_of
from harness import FIXTURES, Case, Label

FAULTY = "from torch.utils.data import DataLoader\n\nloader = DataLoader([1], num_workers=0, prefetch_factor=2)\n"
RENDERED = """---
# Source: speech/templates/job.yaml
apiVersion: batch/v1
kind: Job
metadata:
  name: train
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: train
          image: pytorch/pytorch:2.7.0-cuda12.8-cudnn9-runtime
          command: ["python", "train.py"]
          resources:
            limits:
              nvidia.com/gpu: 1
"""


def cases_by_kind(tmp_path: Path) -> dict[Kind, tuple[Path, Label]]:
    """For each kind of file a fixture that asks for a report in a file of this kind, and its label."""
    found: dict[Kind, tuple[Path, Label]] = {}
    for path in sorted(FIXTURES.glob("DLL[47]*/bad_*")):
        case = Case(path)
        case.unpack(tmp_path / path.parent.name / path.name)
        for label in sorted(case.labels):
            kind = kind_of(label.path)
            if kind is not None:
                found.setdefault(kind, (path, label))
    return found


def test_each_language_comes_through(tmp_path: Path) -> None:
    cases = cases_by_kind(tmp_path / "cases")
    languages = {Kind.PYTHON, Kind.YAML, Kind.JSON, Kind.DOCKERFILE, Kind.SHELL, Kind.MAKEFILE, Kind.MARKDOWN}
    assert languages <= set(cases)
    for kind, (case, label) in cases.items():
        project = unpacked(case, tmp_path / kind.name)
        name, select = label.path, ("--extend-select", label.code)
        text = (project / name).read_bytes()
        expected = places(dllint(name, *select, cwd=project).stdout)
        assert {(place.path, place.code) for place in expected} >= {(name, label.code)}, kind
        (project / name).write_bytes(b"")
        run = dllint("check", "-", "--stdin-filename", name, *select, cwd=project, text=text)
        assert (run.returncode, run.stderr) == (1, ""), kind
        assert places(run.stdout) == expected, kind


def test_a_file_that_is_not_there_yet(tmp_path: Path) -> None:
    project = written(tmp_path)
    run = dllint("-", "--stdin-filename", "new/train.py", cwd=project, text=FAULTY)
    assert [place.code for place in places(run.stdout)] == ["DLL402"]
    assert run.stdout.startswith("new/train.py:3:")


def test_a_rendered_chart_is_judged_by_the_project_around_it(tmp_path: Path) -> None:
    project = showcase(tmp_path / "show")
    run = dllint("check", "-", "--stdin-filename", "rendered.yaml", cwd=project, text=RENDERED)
    assert [(place.path, place.row, place.code) for place in places(run.stdout)] == [("rendered.yaml", 12, "DLL701")]
    assert "train.py, which it runs, starts DataLoader workers" in run.stdout
    (project / "train.py").write_text("print('no loader')\n")
    run = dllint("check", "-", "--stdin-filename", "rendered.yaml", cwd=project, text=RENDERED)
    assert "train.py" not in run.stdout


def test_a_name_alone_means_that_standard_input_is_read(tmp_path: Path) -> None:
    project = written(tmp_path, a=FAULTY)
    assert dllint("--stdin-filename", "a.py", cwd=project, text="x = 1\n").returncode == 0
    run = dllint("--stdin-filename", "a.py", "b", cwd=project)
    assert run.returncode == 2
    assert "works only with -" in run.stderr


@pytest.mark.parametrize("words", [(".",), ("a.py",)])
def test_the_project_itself_is_not_reported(tmp_path: Path, words: tuple[str, ...]) -> None:
    project = written(tmp_path, a=FAULTY, b=FAULTY)
    run = dllint("-", "--stdin-filename", "b.py", cwd=project, text=FAULTY)
    assert {place.path for place in places(run.stdout)} == {"b.py"}
    both = dllint("-", *words, "--stdin-filename", "b.py", cwd=project, text=FAULTY)
    assert {place.path for place in places(both.stdout)} == {"a.py", "b.py"}
