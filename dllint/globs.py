"""Paths and patterns: globs of the settings, and .gitignore files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from fnmatch import translate
from typing import TYPE_CHECKING

from dllint.patterns import pattern

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_GROUP = pattern(r"[?]P<[^>]*>")
Matcher = Callable[[str], "re.Match[str] | None"]


class Globs:
    """Globs of the settings: each fits a file's or folder's name, or its path relative to `root`.

    As in ruff's settings a `*` also crosses folders, and a pattern fits wherever one of the path's parents fits.
    """

    def __init__(self, patterns: Iterable[str], root: str) -> None:
        plain = [os.path.normpath(pattern) for pattern in patterns]
        self.root = root
        self._names = _union_of_globs(pattern for pattern in plain if os.sep not in pattern)
        self._paths = _union_of_globs(_anchored(pattern, root) for pattern in plain if os.sep in pattern)

    def match_entry(self, name: str, absolute: str) -> bool:
        """Whether one entry of a folder fits, its parents left aside."""
        if self._names is not None and self._names(name) is not None:
            return True
        return self._paths is not None and self._paths(absolute) is not None

    def match(self, absolute: str) -> bool:
        """Whether the path fits, or one of its parents below `root` does."""
        while True:
            parent, name = os.path.split(absolute)
            if self.match_entry(name, absolute):
                return True
            if parent in (absolute, self.root):
                return False
            absolute = parent


def _anchored(pattern: str, root: str) -> str:
    if os.path.isabs(pattern):
        return pattern
    if pattern.startswith(f"**{os.sep}"):
        return pattern[1:]
    return os.path.join(re.sub(r"([*?[])", r"[\1]", root), pattern)


def _union_of_globs(patterns: Iterable[str]) -> Matcher | None:
    translated = [translate(pattern) for pattern in patterns]
    return re.compile("|".join(translated)).match if translated else None


class GitIgnore:
    """One .gitignore file: what it says of the paths below its folder."""

    def __init__(self, base: str, spec: GitIgnoreSpec) -> None:
        self.base = base
        self._skip = len(base.rstrip(os.sep)) + 1
        self._spec = spec
        self._may_match = _union(spec)

    @classmethod
    def read(cls, path: str, base: str) -> GitIgnore | None:
        """The patterns in the file `path` for the folder `base`; None if it has none or cannot be read."""
        try:
            with open(path, encoding="utf-8", errors="surrogateescape") as stream:
                lines = stream.read().splitlines()
        except OSError:
            return None
        if all(not line.strip() or line.startswith("#") for line in lines):
            return None
        from pathspec import GitIgnoreSpec

        try:
            return cls(base, GitIgnoreSpec.from_lines(lines))
        except ValueError:
            return cls(base, GitIgnoreSpec.from_lines(_valid(lines)))

    def verdict(self, absolute: str, folder: bool) -> bool | None:
        """True: ignored. False: taken back by a `!` pattern. None: not mentioned."""
        relative = absolute[self._skip :].replace(os.sep, "/") + ("/" if folder else "")
        if self._may_match is not None and not self._may_match(relative):
            return None
        return self._spec.check_file(relative).include


def _valid(lines: Iterable[str]) -> list[str]:
    from pathspec import GitIgnoreSpec

    valid = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        valid.append(line)
    return valid


def _union(spec: GitIgnoreSpec) -> Matcher | None:
    """One expression for all patterns: nearly all paths match none, and one look is faster than one per pattern."""
    sources = (pattern.regex.pattern for pattern in spec.patterns if pattern.regex is not None)
    try:
        return re.compile("|".join(f"(?:{re.sub(_GROUP, '?:', source)})" for source in sources)).match
    except (re.error, TypeError):
        return None


def ignored(stack: tuple[GitIgnore, ...], absolute: str, folder: bool) -> bool:
    """Whether the .gitignore files of a path's parents (outermost first) ignore it: the innermost one's word counts."""
    for gitignore in reversed(stack):
        verdict = gitignore.verdict(absolute, folder)
        if verdict is not None:
            return verdict
    return False
