"""Run a program in a process session of its own, and find out whether it ended or hangs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from program import ALWAYS, Program

LAUNCH = Path(__file__).resolve().parent / "launch.py"
IDLE = 9.0
"""Seconds without any work after which a program hangs; torch itself looks for dead workers every five."""
LONGEST = 240.0
"""Seconds after which a program that still works is given up."""
SOME_TICKS = 3
"""Hundredths of a second that processes take to wake up and go on waiting."""
OWN_SHM = 'mount -t tmpfs -o size="$0" tmpfs /dev/shm && exec "$@"'


@dataclass(frozen=True)
class Run:
    """What came of one run: `runs`, `fails`, `hangs`, or `works` if it was still at it."""

    kind: str
    output: str
    seconds: float


def run(program: Program, method: str, python: str, *arguments: str) -> Run:
    """Run a program under a start method with this Python, in an empty folder."""
    options = program.needs if method == ALWAYS else {**program.needs, "method": method}
    command = [python, str(LAUNCH), json.dumps(options), str(program.script), *arguments]
    if "shm" in program.needs:
        command = [*(own_mounts() or []), "sh", "-c", OWN_SHM, program.needs["shm"], *command]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as output:
        environment = {**os.environ, "TMPDIR": folder, "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        started = time.monotonic()
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            start_new_session=True,
        )  # fmt: skip
        try:
            kind = watch(process)
        finally:
            end_session(process)
        output.seek(0)
        return Run(kind, output.read().decode(errors="replace"), time.monotonic() - started)


def watch(process: subprocess.Popen[bytes]) -> str:
    """Wait until the program ends, or until no process of it has worked for IDLE seconds."""
    started = worked = time.monotonic()
    before = 0
    while process.poll() is None:
        now = time.monotonic()
        ticks, waits = work_of(process.pid)
        # To wake up now and then and look after the workers is no work.
        if waits or ticks > before + SOME_TICKS:
            worked, before = now, ticks
        if now - worked > IDLE:
            return "hangs"
        if now - started > LONGEST:
            return "works"
        time.sleep(0.2)
    return "fails" if process.returncode else "runs"


def work_of(session: int) -> tuple[int, bool]:
    """The processor time of a session's processes, and whether one of them waits for a disk or a processor."""
    ticks, waits = 0, False
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, *fields = path.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(fields[2]) == session:
            ticks += int(fields[10]) + int(fields[11])
            waits |= state in "RD"
    return ticks, waits


def end_session(process: subprocess.Popen[bytes]) -> None:
    """End what is left of the program."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@cache
def own_mounts() -> list[str] | None:
    """The command that runs another one with mounts of its own; None where that is not permitted."""
    for command in (["unshare", "-m"], ["unshare", "-rm"]):
        words = [*command, "sh", "-c", OWN_SHM, "1m", "true"]
        try:
            if subprocess.run(words, capture_output=True).returncode == 0:
                return command
        except OSError:
            return None
    return None
