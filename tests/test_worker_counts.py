"""How a finding's way says how many workers a loader starts: never more than is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from dllint.code.program import Program
from dllint.files import discover
from dllint.settings import Settings

SOURCE = """
import argparse
import os

from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=0)
parser.add_argument("--jobs", type=int, default=4)
args = parser.parse_args()


def load(rows, config, fast):
    return DataLoader(rows, num_workers={})
"""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("1", "1 worker"),
        ("8", "8 workers"),
        ("args.jobs", "4 workers"),
        ("4 if fast else 0", "0 or 4 workers"),
        ("args.workers", "0 or more workers"),
        ("config.workers if fast else 0", "0 or more workers"),
        ("os.cpu_count() if fast else 0", "0 or more workers"),
        ("4 if fast else config.workers", "4 or another number of workers"),
        ("config.workers", "workers"),
        ("os.cpu_count()", "workers"),
    ],
)
def test_the_way_says_what_is_known(tmp_path: Path, given: str, said: str) -> None:
    (tmp_path / ".git").mkdir()
    script = tmp_path / "train.py"
    script.write_text(SOURCE.format(given))
    (project,) = discover([str(script)], Settings(), None)
    (loader,) = Program(project, Settings()).facts.loaders
    assert loader.related().message == f"{said} started by this loader"
