"""Which versions of torch and of Python a project says it runs with, in the files that say so.

Each requirement is one alternative: files for other machines, and lines with markers, stand beside each other. So the
newest version that any of them allows is the upper bound, and the oldest the lower one.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from dllint.code.loaders import pin_files
from dllint.code.loaders.versions import Range, Version
from dllint.records import dataclass

_FIRST_TORCH_FOR = {(3, 14): (2, 9)}
"""Pythons, and the first torch that has wheels for them."""


@dataclass(frozen=True)
class Pins:
    """What is known of the versions that a project runs with."""

    ranges: tuple[Range, ...]
    """What is said of torch."""
    pythons: tuple[Range, ...] = ()
    """What is said of Python."""

    @classmethod
    def read(cls, root: str) -> Pins:
        """The pins in the files of a project's root folder."""
        found = [pin_files.read(path) for path in pin_files.beside(root)]
        return cls(tuple(r for of in found for r in of.torch), tuple(r for of in found for r in of.python))

    @cached_property
    def newest(self) -> Version | None:
        """The newest torch that a requirement allows; None if nothing bounds it."""
        found = _newest(self.ranges)
        open_above = [r for r in self.ranges if r.newest is None]
        if found is None or not all(r.is_of_package and (r.oldest or found) <= found for r in open_above):
            return None  # pip takes the newest where a list leaves it open, whatever conda takes
        only_aside = all(r.is_aside for r in self.ranges if r.newest is not None)
        return None if open_above and only_aside else found

    @cached_property
    def oldest(self) -> Version | None:
        """The oldest torch that a requirement allows; None if nothing bounds it."""
        found = min((r.oldest for r in self.ranges if r.oldest is not None), default=None)
        below = found is not None and any(r.newest is not None and r.newest < found for r in self.ranges)
        return None if below else found

    def torch_is_below(self, version: Version) -> bool:
        """Whether the project only runs with a torch older than `version`."""
        return self.newest is not None and self.newest < version

    def torch_is_at_least(self, version: Version) -> bool:
        """Whether the project only runs with `version` of torch, or a newer one."""
        return self.oldest is not None and self.oldest >= version

    def python_is_below(self, version: Version) -> bool:
        """Whether the project only runs with a Python older than `version`, if only since its torch has no newer."""
        # A package that is open above runs with newer Pythons than the one its developers have.
        newest = None if any(r.newest is None for r in self.pythons) else _newest(self.pythons)
        first = _FIRST_TORCH_FOR.get(version)
        return (newest is not None and newest < version) or (first is not None and self.torch_is_below(first))

    def python_is_at_least(self, version: Version) -> bool:
        """Whether the project only runs with `version` of Python, or a newer one."""
        return bool(self.pythons) and all(r.oldest is not None and r.oldest >= version for r in self.pythons)


NO_PINS = Pins(())


def _newest(ranges: Iterable[Range]) -> Version | None:
    return max((r.newest for r in ranges if r.newest is not None), default=None)
