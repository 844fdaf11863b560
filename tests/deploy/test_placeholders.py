"""What stands for a size in documents and notebooks is no size."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from plans import plan_of

from dllint.deploy.workload import ShmSource


@pytest.mark.parametrize("size", ["{shm}", "{f'{n}g'}", "$SIZE", "{size}gb"])
def test_an_expression_in_a_cell_is_not_known(tmp_path: Path, size: str) -> None:
    cell = {
        "cell_type": "code",
        "source": [f"!docker run --shm-size={size} pytorch/pytorch python train.py"],
        "metadata": {},
    }
    notebook = {
        "cells": [{**cell, "outputs": [], "execution_count": None}],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (found,) = plan_of(tmp_path, {"run.ipynb": json.dumps(notebook), "train.py": "import torch\n"}).workloads
    assert found.shm.source is ShmSource.UNKNOWN and not found.flaws


@pytest.mark.parametrize(("size", "refused"), [("[SIZE]", False), ("XXg", False), ("8Gi", True)])
def test_a_text_without_a_number_stands_for_one(tmp_path: Path, size: str, refused: bool) -> None:
    page = f"```bash\ndocker run --shm-size={size} pytorch/pytorch python train.py\n```\n"
    (found,) = plan_of(tmp_path, {"README.md": page, "train.py": "import torch\n"}).workloads
    assert bool(found.flaws) is refused
