"""What a specifier of versions allows, in the languages of pip, Poetry, conda and pixi."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dllint.patterns import pattern
from dllint.records import dataclass

Version = tuple[int, int]
"""(major, minor)"""

_WHEEL = pattern(r"torch-(\d{1,9})\.(\d{1,9})")
_CLAUSE = pattern(r"(?:(===?|<=|>=|~=|!=|<|>|=|\^|~)|(?<!\s))\s*(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?[^,|]*")


@dataclass(frozen=True, slots=True)
class Range:
    """The versions that one requirement allows; None where it sets no bound."""

    oldest: Version | None
    newest: Version | None
    is_aside: bool = False
    """Whether it is for tests alone, or one of several beside one that is open above."""
    is_of_package: bool = False
    """Whether it is what a package asks for, and not a list of what is installed."""


def ranges(spec: str) -> Iterator[Range]:
    """What a specifier allows: `>=1.8,<2`; nothing if it bounds nothing."""
    wheel = _WHEEL.search(spec)
    if wheel is not None:
        version = (int(wheel[1]), int(wheel[2]))
        yield Range(version, version)
        return
    for alternative in spec.strip("@() ").split("||"):
        bounds = [_bounds(clause) for clause in _CLAUSE.finditer(alternative)]
        oldest = max((low for low, _ in bounds if low is not None), default=None)
        newest = min((high for _, high in bounds if high is not None), default=None)
        if (oldest, newest) != (None, None):
            yield Range(oldest, newest)


def _bounds(clause: re.Match[str]) -> tuple[Version | None, Version | None]:
    """The oldest and the newest (major, minor) of one clause."""
    operator, major, minor, patch = clause.groups()
    version = (int(major), int(minor or 0))
    if operator == "!=":
        return None, None
    if operator in (">=", ">"):
        return version, None
    if operator == "<=":
        return None, version
    if operator == "<":
        return None, version if patch is not None and int(patch) else _before(version)
    if operator == "^":
        return version, (version[0], 99) if version[0] else version
    if operator == "~=" and patch is None:
        return version, (version[0], 99)
    if minor is None:
        return version, (version[0], 99)
    return version, version


def _before(version: Version) -> Version:
    major, minor = version
    return (major, minor - 1) if minor else (major - 1, 99)
