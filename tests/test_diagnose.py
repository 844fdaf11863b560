"""`dllint diagnose`: logs as they come, and which failure leads."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from logs import (
    EXITED,
    FEEDING,
    FETCHED,
    KILLED,
    NO_SHM,
    PYTHON,
    SHARING,
    STARTING,
    TORCH,
    WATCHDOG,
    caught,
    names,
    read,
    traceback,
)

# Tracebacks


def test_what_a_worker_handed_on_is_judged_by_its_own_traceback() -> None:
    log = caught("RuntimeError", "/srv/data.py __getitem__", last=NO_SHM)
    assert names(log) == ["shared memory full"]
    assert [each.line for each in read(log).diagnoses[0].evidence] == [6, 14]
    assert [frame.path for frame in read(log).diagnoses[0].frames] == ["/srv/data.py"]


@pytest.mark.parametrize(
    ("exception", "last", "name"),
    [
        ("KeyError", "KeyError: 'file_17.jpg'", "sample could not be made"),
        (
            "OSError",
            "OSError: Unable to synchronously create file (unable to truncate a file)",
            "sample could not be made",
        ),
        (
            "UnidentifiedImageError",
            "PIL.UnidentifiedImageError: cannot identify image file",
            "sample could not be made",
        ),
        ("error", "cv2.error: OpenCV(4.8.0) resize.cpp:4: error: (-215:Assertion failed)", "sample could not be made"),
        ("TypeError", "TypeError: 'NoneType' object is not subscriptable", "sample could not be made"),
        ("RuntimeError", "RuntimeError: boom", "worker raised"),
        ("NameError", "NameError: name 'np' is not defined", "worker raised"),
        ("ValueError", "ValueError: Default process group has not been initialized", "no process group in the worker"),
        ("ReadersFullError", "lmdb.ReadersFullError: mdb_txn_begin: MDB_READERS_FULL: x", "reader slots used up"),
    ],
)
def test_exceptions_of_workers(exception: str, last: str, name: str) -> None:
    assert names(caught(exception, "/srv/data.py __getitem__", last=last)) == [name]


def test_an_exception_of_the_init_function_is_no_sample() -> None:
    head = "KeyError: Caught KeyError in DataLoader worker process 0.\nOriginal Traceback (most recent call last):"
    log = traceback(
        f"{TORCH}/utils/data/_utils/worker.py _worker_loop", "/srv/d.py init", last="KeyError: 1", head=head
    )
    assert names(log) == ["worker raised"]


def test_a_worker_that_is_interrupted_has_not_failed() -> None:
    assert names(traceback(*FETCHED, "/srv/data.py __getitem__", last="KeyboardInterrupt")) == []


@pytest.mark.parametrize("last", ["EOFError", "ConnectionResetError: [Errno 104] Connection reset by peer"])
def test_a_lost_connection_counts_only_with_the_frames_of_torch(last: str) -> None:
    assert names(traceback(*SHARING, last=last)) == ["connection to the worker lost"]
    assert names(traceback("/srv/client.py fetch", f"{PYTHON}/socket.py recv", last=last)) == []


def test_a_lost_connection_after_errno_24_is_one_of_descriptors() -> None:
    sender = traceback(
        f"{PYTHON}/multiprocessing/resource_sharer.py _serve", last="OSError: [Errno 24] Too many open files"
    )
    found = names(sender + traceback(*SHARING, last="EOFError"))
    assert found == ["too many open files", "connection to the worker lost"]


@pytest.mark.parametrize(
    ("last", "name"),
    [
        ("AttributeError: Can't pickle local object 'D.__getitem__.<locals>.<lambda>'", "lost batch"),
        ("TypeError: cannot pickle 'generator' object", "lost batch"),
        ("RuntimeError: Cowardly refusing to serialize non-leaf tensor which requires_grad", "lost batch"),
        ("RuntimeError: something new", "lost batch"),
        ("", "lost batch"),
        (NO_SHM, "shared memory full"),
        ("OSError: [Errno 24] Too many open files", "too many open files"),
    ],
)
def test_a_traceback_of_the_feeder(last: str, name: str) -> None:
    assert names(traceback(*FEEDING, last=last)) == [name]


def test_pickling_counts_at_the_start_of_workers_only() -> None:
    last = "TypeError: cannot pickle '_thread.lock' object"
    assert names(traceback(*STARTING, last=last)) == ["unpicklable for workers"]
    assert names(traceback("/srv/net.py clone", f"{PYTHON}/copy.py deepcopy", last=last)) == []


def test_semaphores_need_shared_memory_and_checkpoints_do_not() -> None:
    last = "OSError: [Errno 28] No space left on device"
    assert names(traceback(f"{PYTHON}/multiprocessing/synchronize.py __init__", last=last)) == [
        "no room for semaphores"
    ]
    assert names(traceback("/srv/train.py save", f"{TORCH}/serialization.py save", last=last)) == []


def test_samples_of_unequal_size_outside_of_loading() -> None:
    last = "RuntimeError: stack expects each tensor to be equal size, but got [3] at entry 0 and [4] at entry 1"
    assert names(traceback("/srv/net.py forward", last=last)) == []
    assert names(traceback(f"{TORCH}/utils/data/_utils/collate.py collate", last=last)) == ["samples of unequal size"]


def test_a_type_error_counts_where_the_loader_raised_it() -> None:
    last = "TypeError: 'float' object cannot be interpreted as an integer"
    assert names(traceback("/srv/train.py main", f"{TORCH}/utils/data/dataloader.py __init__", last=last)) == [
        "invalid loader value"
    ]
    assert names(traceback(f"{TORCH}/utils/data/dataloader.py __next__", "/srv/data.py __getitem__", last=last)) == []


# Which one leads


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (KILLED + EXITED, ["worker killed", "worker exited"]),
        (KILLED + WATCHDOG, ["worker killed", "collective timed out"]),
        (EXITED + WATCHDOG, ["worker exited", "collective timed out"]),
        (WATCHDOG, ["collective timed out"]),
        (
            EXITED + "Process Process-1:\n" + traceback(*FETCHED, "/srv/d.py get", last="d.Bad: boom"),
            ["worker raised", "worker exited"],
        ),
        (
            "UserWarning: Our suggested max number of worker in current system is 2, which is smaller\n" + KILLED,
            ["worker killed", "more workers than CPUs"],
        ),
        (
            traceback(*FEEDING, last=NO_SHM) + "RuntimeError: DataLoader timed out after 9 seconds\n",
            ["shared memory full", "loader timed out"],
        ),
        (KILLED + "restart\n" * 3000 + NO_SHM + "\n", ["worker killed", "shared memory full"]),
    ],
)
def test_the_first_failure_leads(log: str, expected: list[str]) -> None:
    assert names(log) == expected


def test_killed_is_no_bus_error() -> None:
    assert [each.signature.failure.value for each in read(KILLED).diagnoses] == ["B"]


def test_a_warning_of_a_run_that_ended_well_is_none() -> None:
    warning = "UserWarning: Our suggested max number of worker in current system is 2, which is smaller\n"
    assert names(warning) == ["more workers than CPUs"]
    assert names(warning + "done\n\n[exit code 0]\n") == []
    assert names(warning + "[exit code 124]\n") == ["ended by timeout", "more workers than CPUs"]


# How logs come


def each_line(prefix: str) -> Callable[[str], str]:
    return lambda text: "".join(f"{prefix}{line}\n" for line in text.splitlines())


def as_json(key: str, **more: str) -> Callable[[str], str]:
    return lambda text: "".join(json.dumps({**more, key: f"{line}\n"}) + "\n" for line in text.splitlines())


def frames_as(template: str) -> Callable[[str], str]:
    return lambda text: re.sub(r'  File "(.*)", line 7, in (\S+)\n *(.*)', template, text)


DRESSES: dict[str, Callable[[str], str | bytes]] = {
    "kubectl": each_line("2026-11-29T20:33:30.123456789Z "),
    "kubectl prefix": each_line("[pod/trainer-0/main] "),
    "container runtime": each_line("2026-11-29T20:33:30.123456789Z stderr F "),
    "compose": each_line("trainer-1  | "),
    "stern": each_line("trainer-0 main "),
    "journal": each_line("Nov 29 20:33:30 node7 train[812]: "),
    "torchrun": each_line("[rank0]:"),
    "mpirun": each_line("[1,0]<stderr>:"),
    "srun": each_line("3: "),
    "ray": each_line("\x1b[36m(train_fn pid=812, ip=10.0.0.1)\x1b[0m "),
    "logging": each_line("2026-11-29 20:33:30,123 - ERROR - "),
    "loguru": each_line("2026-11-29 20:33:30.123 | ERROR    | __main__:main:12 - "),
    "docker json": as_json("log", stream="stderr", time="2026-11-29T20:33:30Z"),
    "json": as_json("message", level="ERROR"),
    "json of one record": lambda text: json.dumps({"level": "error", "message": "failed", "exc_info": text}) + "\n",
    "json deep down": lambda text: json.dumps({"attributes": {"exception.stacktrace": text}}) + "\n",
    "json cut off": lambda text: json.dumps({"message": text})[:-4] + "\n",
    "compose json": lambda text: each_line("trainer-1  | ")(as_json("msg")(text)),
    "json of lines": lambda text: json.dumps({"level": "error", "exception": text.splitlines()}) + "\n",
    "json of an object": lambda text: json.dumps({"msg": "x", "error": {"stack_trace": text}}) + "\n",
    "logfmt": lambda text: "".join(
        f"ts=2026-11-29T20:33:30Z level=error msg={json.dumps(line)}\n" for line in text.splitlines()
    ),
    "airflow": lambda text: "".join(
        f"[2026-11-29, 20:33:{row:02} UTC] {{subprocess.py:93}} INFO - {line}\n"
        for row, line in enumerate(text.splitlines())
    ),
    "glog": each_line("E1129 20:33:30.123456 812 train.py:81] "),
    "pdsh": each_line("10.0.0.1: "),
    "python 3.13 colours": lambda text: re.sub(
        r"^(\w+(?:\.\w+)*Error)(: )?(.*)$", "\x1b[1;35m\\1\x1b[0m\\2\x1b[35m\\3\x1b[0m", text, flags=re.MULTILINE
    ),
    "rich": frames_as("│ \\1:7 in \\2  │\n│ ❱ 7 │ \\3 │"),
    "rich, narrow": frames_as("│ \\1:71  │\n│ 7 in \\2 │\n│ ❱ 7 │ \\3"),
    "ipython": frames_as("\\1 in \\2(self)\n      6 \n----> 7 \\3\n"),
    "new ipython": frames_as("File ~\\1:7, in \\2(self)\n----> 7 \\3"),
    "quoted": each_line("> "),
    "repr": lambda text: f"ERROR: {text!r}\n",
    "windows": lambda text: text.replace("\n", "\r\n"),
    "utf-16": lambda text: text.encode("utf-16"),
    "utf-16 without mark": lambda text: text.encode("utf-16-le"),
    "nul bytes": lambda text: text.replace("\n", "\n\0"),
    "colours": lambda text: re.sub(r"(\w+Error|line 7)", "\x1b[1;35m\\1\x1b[0m", text),
    "progress bars": lambda text: text.replace("\n", "\n\rEpoch 1:  3%|#   | 3/99 [00:01<00:03]\r"),
    "no indentation": lambda text: "\n".join(line.strip() for line in text.splitlines()),
    "two ranks": lambda text: each_line("[rank0]:")(text).replace("\n", "\n[rank1]:Traceback (most recent)\n"),
    "middle of a long log": lambda text: "step 7 loss=0.3\n" * 60_000 + text + "step 8 loss=0.3\n" * 60_000,
    "binary noise": lambda text: b"\xff\xfe\x80 noise \x00\x01\n" * 3 + text.encode(),
}  # fmt: skip
FAILURES = {
    "lost batch": traceback(*FEEDING, last="TypeError: cannot pickle 'generator' object"),
    "shared memory full": traceback(*FEEDING, last=NO_SHM),
    "worker killed": KILLED,
    "connection to the worker lost": traceback(*SHARING, last="EOFError"),
    "sample could not be made": caught("KeyError", "/srv/data.py __getitem__", last="KeyError: 'a.jpg'"),
    "unpicklable for workers": traceback(*STARTING, last="TypeError: cannot pickle '_io.BufferedReader' object"),
}


@pytest.mark.parametrize("name", FAILURES)
@pytest.mark.parametrize("dress", sorted(DRESSES))
def test_logs_as_they_come(dress: str, name: str) -> None:
    assert names(DRESSES[dress](FAILURES[name])) == [name]


def test_rows_are_those_of_the_file() -> None:
    log = "step 7 loss=0.3\n" * 100_000 + KILLED + "step 8\n" * 100_000 + WATCHDOG
    evidence = [each.evidence[0].line for each in read(log).diagnoses]
    assert evidence == [100_000 + KILLED.count("\n"), 200_000 + KILLED.count("\n") + 1]


def test_a_line_that_a_terminal_has_broken() -> None:
    wrapped = f"{NO_SHM[:70]}\n{NO_SHM[70:].lstrip()}\n"
    assert names(wrapped) == ["shared memory full"]


def test_a_long_line_shows_the_part_that_speaks() -> None:
    bars = "".join(f"Epoch 1: {number}% | " for number in range(100))
    text = read(f"{bars}ERROR: Unexpected bus error encountered in worker.\n").diagnoses[0].evidence[0].text
    assert text.endswith("Unexpected bus error encountered in worker.") and len(text) < 300


def test_a_large_log_takes_little_memory(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    block = b"2026-11-29 20:33:30 INFO step 81 loss 2.31 workers=8\n\rEpoch 3: 9%|# | 9/99 [00:01<00:09]" * 20_000
    with log.open("wb") as stream:
        for _ in range(60):
            stream.write(block)
        stream.write(KILLED.encode())
    program = (
        "import sys; from dllint.cli import main; main(['diagnose', sys.argv[1]]);"
        # Not ru_maxrss: Linux starts that at what the parent had.
        "print(*[line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')], file=sys.stderr)"
    )
    command = [sys.executable, "-c", program, str(log)]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "worker killed" in result.stdout
    assert log.stat().st_size > 100_000_000 and int(result.stderr) < 100_000


# Memory


SLURM = "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=71.0. Some of your processes may have been killed\n"


@pytest.mark.parametrize(
    "kill",
    [
        SLURM,
        "slurmstepd: error: Detected 1 oom_kill event in StepId=71.batch. Some tasks have been OOM Killed.\n",
        "Last state: Terminated, reason: OOMKilled, exit code: 137\n",
        "kernel: [81.2] Killed process 4711 (python) total-vm:9kB, anon-rss:7kB\n",
    ],
)
@pytest.mark.parametrize("after", [False, True])
def test_a_process_killed_for_memory_explains_a_worker_that_is_gone(kill: str, after: bool) -> None:
    log = f"epoch 3\n{EXITED}step 7\n{kill}" if after else f"epoch 3\n{kill}step 7\n{EXITED}"
    first, second = read(log).diagnoses
    assert (first.signature.name, first.signature.failure.value) == ("out of memory", "B")
    assert [each.text for each in first.evidence] == [kill.strip()]
    assert second.signature.name == "worker exited"


@pytest.mark.parametrize("line", ["oom_kill 0", "oom_kill_disable 1", '"OOMKilled": false,', "killed by oom policy"])
def test_what_only_names_the_killer(line: str) -> None:
    assert names(f"{line}\n{EXITED}") == ["worker exited"]


def test_a_kill_far_from_the_worker_explains_nothing() -> None:
    assert names(SLURM + "step of training\n" * 500 + EXITED) == ["worker exited"]
    assert names(SLURM + KILLED) == ["out of memory", "worker killed"]
    assert names(SLURM + NO_SHM) == ["shared memory full"]


# Nearest


def test_a_full_disk_comes_nearest_to_full_shared_memory() -> None:
    for line in (
        "OSError: [Errno 28] No space left on device",
        "OSError: [Errno 28] No space left on device: '/ckpt/3.pt'",
    ):
        assert [near.name for near in read(f"epoch 1\n{line}\n").nearest] == ["shared memory full"]
