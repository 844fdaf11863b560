"""Which versions of torch a project pins, in the files that say so."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

_NAMES = ("pyproject.toml", "setup.py", "setup.cfg", "environment.yml", "environment.yaml", "conda.yaml", "Pipfile")
_REQUIREMENTS = re.compile(r"requirements.*\.(?:txt|in)$")
_PIN = re.compile(r"""(?:^|[\s"'])(?:py)?torch\s*(?:\[[^\]]*\])?\s*(?P<spec>[=<>~!][^"'#;\n]*)""", re.MULTILINE)
_CLAUSE = re.compile(r"(?<![<>=!~])(={1,3}|<=|<|~=)\s*(\d+)(?:\.(\d+))?")
_LARGEST = 1_000_000
"""Bytes of a file that pins versions; lock files of a larger size are not looked at."""


@dataclass(frozen=True, slots=True)
class Pins:
    """What is known of the versions that a project runs with."""

    torch: tuple[int, int] | None
    """The newest torch, as (major, minor), that every pin of it allows; None if nothing bounds it."""

    @classmethod
    def read(cls, root: str) -> Pins:
        """The pins in the files of a project's root folder."""
        bounds = [bound for text in _texts(root) for bound in _upper_bounds(text)]
        return cls(min(bounds, default=None))

    def torch_is_below(self, version: tuple[int, int]) -> bool:
        """Whether the project pins a torch older than `version`."""
        return self.torch is not None and self.torch < version


def _texts(root: str) -> Iterator[str]:
    try:
        names = sorted(os.listdir(root))
    except OSError:
        return
    for name in names:
        path = os.path.join(root, name)
        if name not in _NAMES and not _REQUIREMENTS.match(name):
            continue
        try:
            if os.path.getsize(path) <= _LARGEST:
                with open(path, encoding="utf-8", errors="replace") as stream:
                    yield stream.read()
        except OSError:
            continue


def _upper_bounds(text: str) -> Iterator[tuple[int, int]]:
    """The newest (major, minor) that each bounding clause on torch allows."""
    for pin in _PIN.finditer(text):
        for operator, major, minor in _CLAUSE.findall(pin.group("spec")):
            version = (int(major), int(minor or 0))
            if operator == "<":
                yield (version[0], version[1] - 1) if version[1] else (version[0] - 1, 99)
            elif operator == "~=":
                yield (version[0], 99)
            else:
                yield version
