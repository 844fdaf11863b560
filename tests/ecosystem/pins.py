"""Which packages are linted: a requirements file of pip, each line with a version and the hash of its wheel."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

PINS = Path(__file__).with_name("pins.txt")
_LINE = re.compile(r"(?P<name>[a-z0-9][a-z0-9-]*)==(?P<version>[\w.]+) --hash=sha256:(?P<sha256>[0-9a-f]{64})")


class Pin(NamedTuple):
    """One package: the very file, whatever is published later."""

    name: str
    version: str
    sha256: str

    @property
    def requirement(self) -> str:
        return f"{self.name}=={self.version} --hash=sha256:{self.sha256}"


class PinError(Exception):
    """A line that is no pin, or a package that is not pinned."""


def read(text: str) -> list[Pin]:
    """The pins in the text of a requirements file, in its order."""
    return [_pin(line) for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _pin(line: str) -> Pin:
    match = _LINE.fullmatch(line)
    if match is None:
        raise PinError(f"not NAME==VERSION --hash=sha256:HASH: {line!r}")
    return Pin(match["name"], match["version"], match["sha256"])


def pinned(names: Iterable[str] = ()) -> list[Pin]:
    """The pins of these packages, or all of them."""
    pins = {pin.name: pin for pin in read(PINS.read_text(encoding="utf-8"))}
    wanted = list(names) or list(pins)
    unknown = [name for name in wanted if name not in pins]
    if unknown:
        raise PinError(f"not in {PINS.name}: {', '.join(unknown)}")
    return [pins[name] for name in wanted]
