"""A limit on processor time: what hangs is interrupted, and a busy machine is not taken for a hang."""

from __future__ import annotations

import signal
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

LIMIT = 5.0
"""Seconds of processor time that a run over one file of up to a megabyte may take before it counts as a hang."""


class TooSlowError(AssertionError):
    """What was tried took more than its time."""


class _Interruption(BaseException):
    """Not an Exception: code that survives a failing rule must not survive this."""


@contextmanager
def limit(seconds: float = LIMIT) -> Iterator[None]:
    """Interrupt what takes longer than this, where the platform can; a hang elsewhere is seen by whoever waits.

    Raises TooSlowError, which tells where it was.
    """
    if not hasattr(signal, "SIGPROF") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise _Interruption

    before = signal.signal(signal.SIGPROF, ring)
    # Again and again: an exception that is raised in a destructor or a callback of C is lost.
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.5)
    try:
        yield
    except _Interruption as interruption:
        signal.setitimer(signal.ITIMER_PROF, 0)
        where = "".join(traceback.format_tb(interruption.__traceback__)[-6:])
        raise TooSlowError(f"not done after {seconds} s of processor time, in\n{where}") from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
