"""The progress bar comes late and leaves nothing behind."""

from __future__ import annotations

import sys
import time

import pytest

from dllint.progress import bar_after


def test_a_short_run_draws_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with bar_after(seconds=60) as progress:
        progress(1, 2)
    assert capsys.readouterr() == ("", "")


def test_a_long_run_draws_on_stderr_only(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with bar_after(seconds=0.01) as progress:
        time.sleep(0.6)
        progress(1, 2)
    out, err = capsys.readouterr()
    assert out == ""
    assert "Linting" in err


def test_an_error_inside_ends_the_bar() -> None:
    with pytest.raises(KeyboardInterrupt), bar_after(seconds=0.01):
        raise KeyboardInterrupt
