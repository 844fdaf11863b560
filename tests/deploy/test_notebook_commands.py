"""Containers that the cells of a notebook start."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from plans import plan_of

from dllint.deploy.workload import ShmSource
from dllint.syntax.magics import shell_of

IMAGE = "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"


def notebook(*cells: str) -> dict[str, str]:
    made = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell.splitlines(True)} for cell in cells]
    return {"lab.ipynb": json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})}


@pytest.mark.parametrize(
    ("cell", "row"),
    [
        (f"!docker run {IMAGE} python train.py\n", 2),
        (f"x = 1\n  !docker run \\\n    --gpus all {IMAGE}\n", 3),
        (f"%%bash\ndocker run {IMAGE}\n", 3),
        (f"!!sudo docker run {IMAGE}\n", 2),
        (f"out = !docker run {IMAGE}\n", 2),
        (f"if True:\n    log = %sx docker run {IMAGE}\n", 3),
        (f"%system docker run {IMAGE}\n", 2),
        (f"%%!\ndocker run {IMAGE}\n", 3),
        (f"%%script --no-raise-error bash\ndocker run {IMAGE}\n", 3),
        (f"%%writefile run.sh\ndocker run {IMAGE}\n", 3),
        (f"note = '''\n!ls\n'''\n!docker run {IMAGE}\n", 5),
    ],
)
def test_commands_are_read_where_they_stand(tmp_path: Path, cell: str, row: int) -> None:
    (training,) = plan_of(tmp_path, notebook("import torch", cell)).trainings
    assert training.workload.shm.source is ShmSource.DEFAULT
    assert training.workload.at.row == row


@pytest.mark.parametrize(
    "cell",
    [
        f"!docker run --shm-size=8g {IMAGE} nvidia-smi\n",
        f"# !docker run {IMAGE}\n",
        f"print('docker run {IMAGE}')\n",
        f"text = '''\n%%bash\ndocker run {IMAGE}\n'''\n",
        "!docker images\n",
        f"note = '''\n!docker run {IMAGE}\n'''\n",
        f"print(\n'''\n  out = !docker run {IMAGE}\n''')\n!ls\n",
        f"%%writefile notes.txt\n!docker run {IMAGE}\n",
        f"out = %timeit docker run {IMAGE}\n",
    ],
)
def test_what_runs_nothing_is_none(tmp_path: Path, cell: str) -> None:
    assert not plan_of(tmp_path, notebook("import torch", cell)).trainings


def test_what_a_shell_gets_keeps_its_rows() -> None:
    cell = "a = 1\n!ls \\\n  -l\nb = 2\n!pwd"
    assert shell_of(cell) == "\n ls \\\n  -l\n\n pwd"
    assert shell_of("%%sh\nls\n") == "\nls\n"
