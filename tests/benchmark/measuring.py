"""Seconds and bytes of whole processes."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from benchmark.tools import environment

MEGABYTE = 1_000_000
_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024
"""macOS counts ru_maxrss in bytes, everybody else in kibibytes."""


class Cost(NamedTuple):
    """What one process and its children cost: seconds on the clock, of the processors, megabytes of the largest."""

    wall: float
    cpu: float
    peak: float


@dataclass
class Candidate:
    """A command, how often it runs, and what each run cost."""

    name: str
    command: Sequence[str]
    rounds: int
    statuses: tuple[int, ...] = (0,)
    cwd: Path | None = None
    costs: list[Cost] = field(default_factory=list)

    @property
    def median(self) -> Cost:
        """The median of each number."""
        return Cost(*map(statistics.median, zip(*self.costs, strict=True)))


def cost(command: Sequence[str], cwd: Path | None = None, statuses: tuple[int, ...] = (0,)) -> Cost:
    """Run a command to its end, its output thrown away."""
    before = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=cwd, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    complaint = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - before
    process.stderr.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in statuses:
        raise SystemExit(f"{command[0]} ended with {process.returncode}: {complaint[-1000:].decode(errors='replace')}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _PEAK_UNIT / MEGABYTE)


def take_turns(candidates: Sequence[Candidate]) -> None:
    """Measure all. They take turns in each round: a machine that is busy for a while is busy for all of them."""
    for number in range(max(candidate.rounds for candidate in candidates)):
        for candidate in candidates:
            if number < candidate.rounds:
                candidate.costs.append(cost(candidate.command, candidate.cwd, candidate.statuses))


def peak_together(command: Sequence[str]) -> float:
    """Megabytes that a command and its children hold at once, as far as looking often can tell (Linux; else 0)."""
    most = 0.0
    output = subprocess.DEVNULL
    with subprocess.Popen(command, env=environment(), stdin=output, stdout=output, stderr=output) as process:
        while process.poll() is None:
            most = max(most, _held(process.pid))
            time.sleep(0.01)
    return most


def _held(process: int) -> float:
    """Megabytes of a process and its children now; pages that they share count once."""
    held = 0.0
    try:
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                held = int(line.split()[1]) * 1024 / MEGABYTE
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return held
    return held + sum(_held(int(child)) for child in children)


def import_times(python: Path, module: str) -> Mapping[str, float]:
    """Milliseconds that each module of dllint takes itself when `module` is imported, and all others together."""
    run = subprocess.run(
        [python, "-X", "importtime", "-c", f"import {module}"],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    times = {"others": 0.0}
    for line in run.stderr.splitlines()[1:]:
        own, _, name = (part.strip() for part in line.removeprefix("import time:").split("|"))
        key = name if name.startswith("dllint") else "others"
        times[key] = times.get(key, 0.0) + int(own) / 1000
    return times
