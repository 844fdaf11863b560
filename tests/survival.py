"""What the robustness tests share: lint a broken file beside a sound one, against the clock."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from harness import run, workspace

LIMIT = 5
"""Seconds that a run over a few small files may take before it counts as a hang."""

SENTINEL = "from torch.utils.data import DataLoader\n\nloader = DataLoader([1], num_workers=0, prefetch_factor=2)\n"
PREAMBLE = b"import torch\nfrom torch.utils.data import DataLoader, Dataset\n"


class Hang(BaseException):
    """Not an Exception: code that survives a failing rule must not survive this."""


@contextmanager
def alarm(seconds: int) -> Iterator[None]:
    """Interrupt what takes longer than this, where the platform can; a hang elsewhere is seen by whoever waits."""
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise Hang(f"not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def survives(broken: bytes, name: str = "data.py") -> set[str]:
    """Lint `broken` beside a file with one known fault. Returns the codes reported on `broken`."""
    with workspace() as folder:
        (folder / name).write_bytes(broken)
        (folder / "sentinel.py").write_text(SENTINEL)
        with alarm(LIMIT):
            report = run(folder, ["ALL"])
    assert not report.errors, report.errors
    codes: dict[str, set[str]] = {name: set(), "sentinel.py": set()}
    for finding in report.findings:
        codes[Path(finding.location.path).name].add(finding.code)
    assert "DLL402" in codes["sentinel.py"], "the finding in the other file is lost"
    return codes[name]
