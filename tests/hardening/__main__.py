"""The long run: breaks files in many ways, and prints how many inputs were tried, which failed and what was slowest.

    python tests/hardening [--real FOLDER...] [--files 500] [--examples 2000] [--seed 1] [--jobs N]
    python tests/hardening --again NAME        one trial once more, by the name of a failure
    python tests/hardening --memory FOLDER     a whole run under a limit of 1 GB

Each trial runs in a process of its own, so that a crash of Python itself is a failure like any other. It fails by an
internal error, by a finding that is lost in another file, by more than 5 seconds of processor time for one file (for
each megabyte of a larger one; half a second for one regular expression), or by more than 2 GB. The same seed makes the
same inputs.
"""

from __future__ import annotations

import argparse
import os
import pickle
import resource
import subprocess
import sys
import time
import traceback
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

from trials import Trial, of_expressions, of_fixtures, of_languages, of_lines, of_real  # noqa: E402

GIGABYTE = 10**9
MOST_MEMORY = 2 * GIGABYTE
LONGEST_FAILURE = 3_000
STRIDE = 500
"""After how many trials a line says how far the run is."""


@dataclass(frozen=True)
class Outcome:
    """What became of one trial."""

    trial: Trial
    inputs: int
    failure: str
    seconds: float
    memory: int
    """Bytes at the peak."""


@dataclass
class Row:
    """What became of the trials of one kind."""

    inputs: int = 0
    failures: int = 0
    seconds: float = 0.0
    slowest: tuple[float, str] = (0.0, "")
    memory: int = 0

    def add(self, outcome: Outcome) -> None:
        self.inputs += outcome.inputs
        self.failures += bool(outcome.failure)
        self.seconds += outcome.seconds
        self.slowest = max(self.slowest, (outcome.seconds / max(outcome.inputs, 1), outcome.trial.name))
        self.memory = max(self.memory, outcome.memory)


@dataclass
class Table:
    """All rows, printed at the end."""

    rows: dict[str, Row] = field(default_factory=lambda: defaultdict(Row))

    def print(self) -> None:
        print(f"\n{'kind':22} {'inputs':>8} {'failures':>8} {'cpu s':>8} {'peak MB':>8}  slowest (s for one input)")
        for kind, row in sorted(self.rows.items()):
            slowest = f"{row.slowest[0]:.2f} {row.slowest[1][-60:]}"
            print(f"{kind:22} {row.inputs:8} {row.failures:8} {row.seconds:8.0f} {row.memory / 1e6:8.0f}  {slowest}")
        inputs, failures = (sum(getattr(row, name) for row in self.rows.values()) for name in ("inputs", "failures"))
        print(f"{'all':22} {inputs:8} {failures:8}")


def outcomes(trials: Iterable[Trial], jobs: int) -> Iterator[Outcome]:
    """Run each trial in a process of its own, `jobs` at a time."""
    running: dict[int, tuple[Trial, int]] = {}
    for trial in trials:
        if len(running) >= jobs:
            yield _ended(running)
        process, channel = _started(trial)
        running[process] = trial, channel
    while running:
        yield _ended(running)


def _started(trial: Trial) -> tuple[int, int]:
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return process, reading
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        os.write(writing, pickle.dumps(_result(trial)))
    finally:
        os._exit(0)


def _result(trial: Trial) -> tuple[int, str]:
    try:
        return trial.run(), ""
    except BaseException:
        return 1, traceback.format_exc()[-LONGEST_FAILURE:]


def _ended(running: dict[int, tuple[Trial, int]]) -> Outcome:
    process, status, usage = os.wait4(-1, 0)
    trial, channel = running.pop(process)
    with os.fdopen(channel, "rb") as stream:
        data = stream.read()
    inputs, failure = pickle.loads(data) if data else (1, f"the process died: status {status}")
    return Outcome(trial, inputs, failure, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def trials(arguments: argparse.Namespace) -> Iterable[Trial]:
    """All that is asked for."""
    number = arguments.seed
    every = chain(
        of_expressions(number),
        of_languages(arguments.examples, number),
        of_lines(number),
        of_fixtures(number),
        of_real(arguments.real, arguments.files, number),
    )
    chosen = (trial for trial in every if trial.kind.startswith(tuple(arguments.only or ("",))))
    return islice(chosen, None, None, arguments.every)


def in_little_memory(folder: str) -> int:
    """A run over a large folder with 1 GB of addresses: it has to report what it reports with all of the memory."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (GIGABYTE, GIGABYTE))

    command = [sys.executable, "-m", "dllint", "--isolated", "--select", "ALL", "--output-format", "concise", folder]
    free = subprocess.run(command, capture_output=True, text=True, check=False)
    tight = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limit)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    same = (free.returncode, free.stdout) == (tight.returncode, tight.stdout) and tight.returncode in (0, 1)
    lines = tight.stdout.count("\n")
    print(
        f"1 GB: {'as without a limit' if same else 'OTHERWISE THAN WITHOUT'}, {lines} lines of report, peak {peak} MB"
    )
    if not same:
        print(tight.stderr[-LONGEST_FAILURE:])
    return 0 if same else 1


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--real", nargs="+", default=[], metavar="FOLDER", help="real projects, whose files are broken")
    parser.add_argument("--files", type=int, default=500, help="how many of their files")
    parser.add_argument("--examples", type=int, default=2_000, help="how many files are made in each language")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="run only each Nth of the trials")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--only", nargs="+", metavar="KIND", help="kinds of trials: regex, generated, line, fixture, real"
    )
    parser.add_argument("--again", metavar="NAME", help="run this trial alone, with its traceback")
    parser.add_argument("--memory", metavar="FOLDER", help="lint this folder in 1 GB")
    return parser.parse_args()


def main() -> int:
    arguments = parsed()
    if arguments.memory:
        return in_little_memory(arguments.memory)
    print(f"seed {arguments.seed}")
    if arguments.again:
        trial = next(trial for trial in trials(arguments) if trial.name == arguments.again)
        print(trial.run(), "inputs, no failure")
        return 0
    table, start = Table(), time.monotonic()
    try:
        for count, outcome in enumerate(outcomes(trials(arguments), arguments.jobs), 1):
            if count % STRIDE == 0:
                print(f"{count} trials in {time.monotonic() - start:.0f} s, now {outcome.trial.kind}", flush=True)
            table.rows[outcome.trial.kind].add(outcome)
            if outcome.failure:
                print(f"\nFAILED {outcome.trial.kind}: --again {outcome.trial.name!r}\n{outcome.failure}", flush=True)
    except KeyboardInterrupt:
        print("\ninterrupted: what was tried until then")
    table.print()
    print(f"{time.monotonic() - start:.0f} seconds")
    return 1 if any(row.failures for row in table.rows.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
