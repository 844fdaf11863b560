"""Which versions of torch a project says it runs with, in the files that say so.

Each requirement is one alternative: files for other machines, and lines with markers, stand beside each other. So the
newest torch that any of them allows is the upper bound, and the oldest the lower one.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import Any

from dllint.patterns import pattern
from dllint.records import dataclass

Version = tuple[int, int]
"""(major, minor)"""

_NAMES = ("torch", "pytorch")
_LISTS = ("requirements", "constraints")
"""What the names of such lists hold."""
_LIST_SUFFIXES = (".txt", ".in")
_CONDA = pattern(r"(?:environment|conda|env)[\w.-]*\.ya?ml$")
_LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml")
_FOLDERS = ("requirements", "requires", "deps")
"""Folders that hold such lists: `requirements/base.txt`."""
_LARGEST = 1_000_000
_LARGEST_LOCK = 20_000_000
"""Bytes of a file that is looked at."""

_REQUIREMENT = pattern(r"(?<![\w./-])(?:py)?torch(?:\s*\[[^\]\n]{0,200}\])?\s*(?P<spec>[=<>~!(^][^\"'#;\n]*|@\s*\S+)")
_WHEEL = pattern(r"torch-(\d+)\.(\d+)")
_LOCKED = pattern(rb'name = "torch"\r?\nversion = "(\d+)\.(\d+)')
_PIPFILE_LOCKED = pattern(rb'"torch": \{[^{}]*?"version": "==(\d+)\.(\d+)')
_CLAUSE = pattern(r"(?:(===?|<=|>=|~=|!=|<|>|=|\^|~)|(?<!\s))\s*(\d+)(?:\.(\d+))?(?:\.(\d+))?[^,|]*")


@dataclass(frozen=True, slots=True)
class Range:
    """The versions of torch that one requirement allows; None where it sets no bound."""

    oldest: Version | None
    newest: Version | None


@dataclass(frozen=True, slots=True)
class Pins:
    """What is known of the versions that a project runs with."""

    ranges: tuple[Range, ...]

    @classmethod
    def read(cls, root: str) -> Pins:
        """The pins in the files of a project's root folder."""
        return cls(tuple(found for path in _files(root) for found in _ranges(path)))

    @property
    def newest(self) -> Version | None:
        """The newest torch that a requirement allows; None if nothing bounds it."""
        found = max((r.newest for r in self.ranges if r.newest is not None), default=None)
        above = found is not None and any(r.oldest is not None and r.oldest > found for r in self.ranges)
        return None if above else found

    @property
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


def _files(root: str) -> Iterator[str]:
    for folder in (root, *(os.path.join(root, name) for name in _FOLDERS)):
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            continue
        yield from (os.path.join(folder, name) for name in names if folder == root or name.endswith((".txt", ".in")))


def _ranges(path: str) -> Iterator[Range]:
    name = os.path.basename(path)
    if name in _LOCKS:
        yield from _locked(_bytes(path, _LARGEST_LOCK), _LOCKED)
    elif name == "Pipfile.lock":
        yield from _locked(_bytes(path, _LARGEST_LOCK), _PIPFILE_LOCKED)
    elif name in ("pyproject.toml", "Pipfile"):
        yield from _in_toml(_bytes(path, _LARGEST))
    elif _holds_requirements(path):
        yield from _in_text(_bytes(path, _LARGEST))


def _holds_requirements(path: str) -> bool:
    folder, name = os.path.split(path)
    if name.endswith(_LIST_SUFFIXES):
        return os.path.basename(folder) in _FOLDERS or any(word in name for word in _LISTS)
    return name in ("setup.py", "setup.cfg") or bool(_CONDA.match(name))


def _bytes(path: str, largest: int) -> bytes:
    try:
        if os.path.getsize(path) <= largest:
            with open(path, "rb") as stream:
                return stream.read()
    except OSError:
        pass
    return b""


def _locked(data: bytes, pattern: re.Pattern[bytes]) -> Iterator[Range]:
    """What a lock file has chosen."""
    for major, minor in pattern.findall(data):
        version = (int(major), int(minor))
        yield Range(version, version)


def _in_text(data: bytes) -> Iterator[Range]:
    """The requirements in a text with one a line, or as quoted strings."""
    text = data.decode("utf-8", "replace")
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    for match in _REQUIREMENT.finditer("\n".join(lines)):
        yield from _range(match.group("spec"))


def _in_toml(data: bytes) -> Iterator[Range]:
    """The requirements of pyproject.toml (PEP 621, dependency groups, poetry, pdm, uv) or a Pipfile."""
    if b"torch" not in data:
        return
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        tables: dict[str, Any] = tomllib.loads(data.decode("utf-8", "replace"))
    except tomllib.TOMLDecodeError:
        return
    for entry in _entries(tables, 0):
        yield from _range(entry)


def _entries(node: object, depth: int) -> Iterator[str]:
    """The specifiers of torch: in strings such as "torch>=2", and under a key `torch`."""
    if depth > 8:
        return
    if isinstance(node, dict):
        for key, value in node.items():
            if str(key).lower() in _NAMES:
                yield from _specifiers(value)
            elif key not in ("scripts", "urls", "classifiers", "keywords", "description"):
                yield from _entries(value, depth + 1)
    elif isinstance(node, list):
        for item in node:
            match = _REQUIREMENT.match(item.strip()) if isinstance(item, str) else None
            if match is not None:
                yield match.group("spec")
            elif not isinstance(item, str):
                yield from _entries(item, depth + 1)


def _specifiers(value: object) -> Iterator[str]:
    """`"^1.13"`, `{version = "^1.13"}`, or a list of these."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _specifiers(value.get("version") or value.get("url"))
    elif isinstance(value, list):
        for item in value:
            yield from _specifiers(item)


def _range(spec: str) -> Iterator[Range]:
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
