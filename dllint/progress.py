"""A progress bar on stderr, for runs that take so long that a person wonders."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class _Bar:
    """Draws nothing until `show`; then a rich bar, imported only now."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._done, self._total = 0, 1
        self._bar: Any = None
        self._task: Any = None
        self._ended = False

    def show(self) -> None:
        from rich.console import Console
        from rich.progress import Progress

        with self._lock:
            if self._ended:
                return
            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("Linting", total=self._total, completed=self._done)
            self._bar.start()

    def advance(self, done: int, total: int) -> None:
        with self._lock:
            self._done, self._total = done, total
            if self._bar is not None:
                self._bar.update(self._task, completed=done, total=total)

    def end(self) -> None:
        with self._lock:
            self._ended = True
            if self._bar is not None:
                self._bar.stop()


@contextmanager
def bar_after(seconds: float) -> Iterator[Callable[[int, int], None]]:
    """A function to call with steps done and steps in all; a bar appears if the block takes longer than `seconds`."""
    bar = _Bar()
    timer = threading.Timer(seconds, bar.show)
    timer.daemon = True
    timer.start()
    try:
        yield bar.advance
    finally:
        timer.cancel()
        bar.end()
