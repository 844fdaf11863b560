"""The shared memory that `dllint shm` says a loader needs is what it takes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable

import pytest

from program import ALWAYS, PROGRAMS, Program
from running import own_mounts, run

pytestmark = pytest.mark.torch

BATCH = 1 << 20
KIB = 1 << 10


def needed(workers: int, prefetch: int) -> int:
    """The bytes that dllint asks for, with batches of four samples of 64 Ki floats."""
    numbers = [f"--workers={workers}", f"--prefetch={prefetch}", "--batch-size=4", "--sample=65536"]
    command = [sys.executable, "-m", "dllint", "shm", *numbers, "--output-format=json"]
    return int(json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["bytes"])


@pytest.mark.parametrize(("workers", "prefetch"), [(1, 1), (1, 4), (2, 2), (4, 2), (3, 3)])
def test_the_formula_is_the_measured_peak(
    workers: int,
    prefetch: int,
    torch_python: str,
    torch_version: str,
    record_property: Callable[[str, object], None],
) -> None:
    if own_mounts() is None:
        pytest.skip("a private /dev/shm is not permitted here")
    demand = Program(PROGRAMS / "demand.py", {"shm": "256m"}, {})
    done = run(demand, ALWAYS, torch_python, str(workers), str(prefetch))
    assert done.kind == "runs", done.output
    peak = int(re.findall(r"peak (\d+)", done.output)[0])
    text = f"{workers} x {prefetch} + 2 = {workers * prefetch + 2} batches; measured {peak / BATCH:.2f}"
    record_property("torch", torch_version)
    record_property("DLL702", text)
    semaphores = (32 + 12 * workers) * KIB
    assert peak <= needed(workers, prefetch) + semaphores, "the need is a bound"
    assert peak > (workers * prefetch + 1) * BATCH, "and no batch too many"
