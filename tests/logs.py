"""What the tests of `dllint diagnose` share: logs of their own making, after the texts of torch."""

from __future__ import annotations

import io

from dllint.diagnose import classify, lines
from dllint.diagnose.classification import Log

TORCH = "/opt/env/lib/python3.11/site-packages/torch"
PYTHON = "/usr/lib/python3.11"


def traceback(*frames: str, last: str, head: str = "Traceback (most recent call last):") -> str:
    """A traceback through `path function` frames that ends with `last`."""
    places = [frame.split() for frame in frames]
    shown = [f'  File "{path}", line 7, in {function}\n    call(argument)\n' for path, function in places]
    return "".join((head, "\n", *shown, last, "\n"))


WAITING = (f"{TORCH}/utils/data/dataloader.py __next__", f"{TORCH}/utils/data/dataloader.py _try_get_data")
FETCHED = (f"{TORCH}/utils/data/_utils/worker.py _worker_loop", f"{TORCH}/utils/data/_utils/fetch.py fetch")
SHARING = (
    *WAITING,
    f"{TORCH}/multiprocessing/reductions.py rebuild_storage_fd",
    f"{PYTHON}/multiprocessing/connection.py _recv",
)
FEEDING = (f"{PYTHON}/multiprocessing/queues.py _feed", f"{PYTHON}/multiprocessing/reduction.py dumps")
STARTING = (f"{PYTHON}/multiprocessing/popen_spawn_posix.py _launch", f"{PYTHON}/multiprocessing/reduction.py dump")
KILLED = traceback(*WAITING, last="RuntimeError: DataLoader worker (pid 28) is killed by signal: Killed. ")
EXITED = traceback(*WAITING, last="RuntimeError: DataLoader worker (pid(s) 28) exited unexpectedly")
WATCHDOG = "[rank1]:[E1] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8, OpType=ALLREDUCE)\n"
NO_SHM = "RuntimeError: unable to allocate shared memory(shm) for file </torch_7_8_0>: No space left on device (28)"


def caught(exception: str, *frames: str, last: str) -> str:
    """What main prints of an exception that a worker handed on."""
    head = (
        f"{exception}: Caught {exception} in DataLoader worker process 0.\nOriginal Traceback (most recent call last):"
    )
    return traceback(*WAITING, last=traceback(*FETCHED, *frames, last=last, head=head))


def read(log: str | bytes) -> Log:
    return classify(lines(io.BytesIO(log.encode() if isinstance(log, str) else log)))


def names(log: str | bytes) -> list[str]:
    return [each.signature.name for each in read(log).diagnoses]
