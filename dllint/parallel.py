"""Work shared out over processes that are forked once the project is known: they inherit it, and send back findings."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TypeVar

_MOST_PROCESSES = 8
_Result = TypeVar("_Result")


def can_fork() -> bool:
    """Whether forking is possible and safe here: not on Windows, nor on macOS, whose system libraries dislike it."""
    return hasattr(os, "fork") and sys.platform.startswith("linux")


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def shares(jobs: int) -> int:
    """How many processes to share work out over, where there is enough of it: forking one costs some milliseconds.

    `jobs` is what the user wants, 0 for as many as there are processors.
    """
    return max(1, min(jobs or processors(), _MOST_PROCESSES)) if can_fork() else 1


def shared_out(work: Callable[[int], _Result], shares: int) -> list[_Result]:
    """`[work(0), ..., work(shares - 1)]`, each but the first in a process of its own.

    The results have to pickle. What a process cannot finish (it is killed, it runs out of memory) is done again here.
    """
    import pickle

    children = [_start(work, number) for number in range(1, shares)]
    results = [work(0)]
    for number, (process, channel) in enumerate(children, 1):
        data = _read(channel)
        os.waitpid(process, 0)
        results.append(pickle.loads(data) if data else work(number))
    return results


def _start(work: Callable[[int], _Result], number: int) -> tuple[int, int]:
    """Fork a process that does share `number`; its process id, and the pipe that its result comes through."""
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return process, reading
    try:
        import pickle

        os.close(reading)
        with os.fdopen(writing, "wb") as channel:
            channel.write(pickle.dumps(work(number)))
    finally:
        os._exit(0)  # no clean-up of the parent's open files, no second output of its buffers


def _read(channel: int) -> bytes:
    with os.fdopen(channel, "rb") as stream:
        return stream.read()
