"""Measure dllint beside ruff, torchfix and flake8 on folders of Python, and on one file of a generated project.

    python tests/benchmark/run.py FOLDER... [--rounds 5] [--slow-rounds 1] [--only dllint,ruff]

All are whole processes, started cold, without a cache, on the same files. The tools take turns within each round, so
that a machine that is busy for a while is busy for all; the medians are compared. torchfix and flake8 take minutes on
a large folder: `--slow-rounds` says how often they run (0: not at all). Tools that are not installed are left out.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

MEGABYTE = 1_000_000
BARE = [sys.executable, "-c", "import ast, re, json"]


@dataclass
class Tool:
    """One command that is measured, and how long each run took."""

    name: str
    command: list[str]
    slow: bool = False
    statuses: tuple[int, ...] = (0,)
    walls: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.walls)


@dataclass(frozen=True)
class Cost:
    """What one process cost: seconds on the clock, seconds of processor time, megabytes at its peak."""

    wall: float
    processor: float
    peak: float


def program(name: str) -> str | None:
    """The program beside this interpreter, else the one on the PATH."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.exists() else shutil.which(name)


def tools(only: set[str]) -> list[Tool]:
    """The tools that are installed and asked for."""
    arguments = {
        "dllint": ["check", "--isolated", "--exit-zero"],
        "ruff": ["check", "--isolated", "--no-cache", "--select", "F", "--exit-zero"],
        "torchfix": ["--select=ALL"],
        "flake8": ["--isolated", "--exit-zero"],
    }
    found = []
    for name, rest in arguments.items():
        path = program(name)
        if path is None:
            print(f"{name} is not installed: left out", file=sys.stderr)
        elif not only or name in only:
            # torchfix alone has no option to end with 0 in spite of findings.
            statuses = (0, 1) if name == "torchfix" else (0,)
            found.append(Tool(name, [path, *rest], name in ("torchfix", "flake8"), statuses))
    return found


def cost(command: list[str], cwd: Path | None = None, statuses: tuple[int, ...] = (0,)) -> Cost:
    """Run a command to its end. The peak is that of the largest process among it and its children."""
    before = time.perf_counter()
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    complaint = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - before
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in statuses:
        raise SystemExit(f"{command[0]} ended with {process.returncode}: {complaint[-1000:]}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * peak_unit() / MEGABYTE)


def peak_unit() -> int:
    """macOS counts ru_maxrss in bytes, everybody else in kibibytes."""
    return 1 if sys.platform == "darwin" else 1024


def take_turns(candidates: list[Tool], folder: Path, rounds: int, slow_rounds: int) -> None:
    for number in range(rounds):
        for tool in candidates:
            if tool.slow and number >= slow_rounds:
                continue
            spent = cost([*tool.command, str(folder)], statuses=tool.statuses)
            tool.walls.append(spent.wall)
            tool.processor.append(spent.processor)


def python_files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*.py") if path.is_file())


def size(folder: Path) -> float:
    return sum(path.stat().st_size for path in python_files(folder)) / MEGABYTE


def compare(folder: Path, options: argparse.Namespace) -> None:
    """Print one table for a folder: medians, seconds for each megabyte, and the ratio of dllint to each other tool."""
    measured = tools(options.only)
    take_turns(measured, folder, options.rounds, options.slow_rounds)
    measured = [tool for tool in measured if tool.walls]
    megabytes = size(folder)
    print(f"\n{folder.name}: {sum(1 for _ in python_files(folder))} files, {megabytes:.1f} MB")
    print(f"{'':10} {'wall s':>9} {'cpu s':>9} {'s/MB':>9} {'runs':>5}   dllint takes")
    own = next((tool for tool in measured if tool.name == "dllint"), None)
    for tool in measured:
        ratio = "" if own is None or tool is own else f"{own.median / tool.median:.4f} of it"
        numbers = (tool.median, statistics.median(tool.processor), tool.median / megabytes)
        print(f"{tool.name:10} {numbers[0]:9.3f} {numbers[1]:9.3f} {numbers[2]:9.4f} {len(tool.walls):5}   {ratio}")


HELPER = '''"""Module {number} of a generated project."""

import torch
from torch.utils.data import DataLoader, Dataset

from project.module_{base} import helper_{base}


def helper_{number}(sample):
    """Part of the way of a sample."""
    return helper_{base}(sample) * {number}

'''
LOADING = '''
class Samples{number}(Dataset):
    """Samples of kind {number}."""

    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        return helper_{number}(torch.load(self.paths[i], map_location="cpu"))


def loader_{number}(paths, workers):
    """A loader over the samples."""
    return DataLoader(Samples{number}(paths), batch_size=8, num_workers=workers)

'''
FILLER = '''
def step_{step}(values):
    """Work that has nothing to do with loading."""
    total = 0
    for value in values:
        total += value * {step}
    return total
'''


def generate(folder: Path, files: int = 300, lines: int = 200) -> Path:
    """Write a project whose modules import one another, and return the file to lint: the one in the middle."""
    package = folder / "project"
    package.mkdir()
    (folder / "pyproject.toml").write_text('[project]\nname = "generated"\nversion = "1"\n')
    (package / "__init__.py").write_text("")
    for number in range(files):
        # A tree, as real projects are: many modules use few, and those fewer still.
        text = HELPER.format(number=number, base=number // 6 if number else files - 1)
        # In real projects every sixth or fifth file has to do with loading.
        if number % 5 == 0:
            text += LOADING.format(number=number)
        else:
            text = text.replace("from torch.utils.data import DataLoader, Dataset\n", "")
        step = 0
        while text.count("\n") < lines:
            text += FILLER.format(step=step)
            step += 1
        (package / f"module_{number}.py").write_text(text)
    return package / f"module_{files // 2}.py"


def one_file(rounds: int) -> None:
    """One 200-line file inside a project of 300, beside an interpreter that imports three modules."""
    path = program("dllint")
    if path is None:
        return
    with tempfile.TemporaryDirectory(prefix="dllint-") as name:
        target = generate(Path(name))
        command = [path, "check", "--exit-zero", str(target)]
        pairs = [(cost(command, Path(name)), cost(BARE)) for _ in range(rounds)]
    own = statistics.median(pair[0].wall for pair in pairs)
    bare = statistics.median(pair[1].wall for pair in pairs)
    print("\none file of 200 lines in a project of 300 files")
    print(f"dllint {own:.3f} s, allowed {max(0.25, 4 * bare):.3f} s")
    print(f"bare interpreter {bare:.3f} s: dllint takes {own / bare:.1f} times as long")


def memory(process: int) -> float:
    """Megabytes that a process and its children hold now (Linux); pages that they share count once. 0 where unknown."""
    held = 0.0
    try:
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                held = int(line.split()[1]) * 1024 / MEGABYTE
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return held
    return held + sum(memory(int(child)) for child in children)


def peak(folders: list[Path]) -> None:
    """Print the peak memory on the largest folder: of one process, and of all as far as looking often can tell."""
    path = program("dllint")
    if path is None or not folders:
        return
    largest = max(folders, key=size)
    command = [path, "check", "--isolated", "--exit-zero", str(largest)]
    one = cost(command).peak
    together = 0.0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            together = max(together, memory(process.pid))
            time.sleep(0.01)
    print(f"\npeak memory on {largest.name} ({size(largest):.1f} MB), allowed 300 MB:")
    print(f"largest process {one:.0f} MB, all processes together {together:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--slow-rounds", type=int, default=1, help="rounds of torchfix and flake8 (default 1)")
    parser.add_argument("--only", type=lambda text: set(text.split(",")), default=set(), help="names, parted by commas")
    options = parser.parse_args()
    for folder in options.folders:
        compare(folder.resolve(), options)
    one_file(options.rounds)
    peak([folder.resolve() for folder in options.folders])


if __name__ == "__main__":
    main()
