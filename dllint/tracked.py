"""What belongs to a project in spite of its .gitignore.

git ignores only what it does not track: a folder `data/` that was added by force, or before somebody wrote `data` into
.gitignore, is source like any other. Its index says so; git itself need not run for that.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import NamedTuple

_PREFIXED = 4
"""The version of the index in which names are cut short by what they share with the name before."""
_LENGTH = 0xFFF
"""The bits of an entry's flags that hold the length of its name; all of them set for a longer one."""
_FLAGS = 2


class _Index(NamedTuple):
    root: str
    data: bytes
    """The index as it stands (gitformat-index): each name follows its flags, and NUL bytes follow it."""


def is_source(path: str, folder: bool) -> bool:
    """Whether an ignored file or folder is part of the project all the same: git tracks it, or something in it.

    Outside of a repository, as in an unpacked archive, packages and what lies in them count as tracked.
    """
    index = _index_above(os.path.dirname(path))
    if index is None:
        return os.path.exists(os.path.join(path if folder else os.path.dirname(path), "__init__.py"))
    relative = os.path.relpath(path, index.root).replace(os.sep, "/")
    return _holds(index.data, os.fsencode(relative) + (b"/" if folder else b""))


def in_repository(folder: str) -> bool:
    """Whether a folder lies in a work tree of git."""
    return _index_above(folder) is not None


def _holds(index: bytes, start: bytes) -> bool:
    """Whether a name of the index is `start`, or starts with it where it ends with a slash."""
    at = index.find(start)
    while at >= 0:
        length = int.from_bytes(index[at - _FLAGS : at], "big") & _LENGTH
        end = index.find(b"\0", at)
        if length == min(end - at, _LENGTH) and (start.endswith(b"/") or end == at + len(start)):
            return True
        at = index.find(start, at + 1)
    return False


@lru_cache(maxsize=64)
def _index_above(folder: str) -> _Index | None:
    """The index of the repository that a folder is in; empty if it tracks nothing yet, None outside of one."""
    git = os.path.join(folder, ".git")
    if os.path.exists(git):
        return _Index(folder, _read(_git_folder(git)))
    parent = os.path.dirname(folder)
    return None if parent == folder else _index_above(parent)


def _git_folder(git: str) -> str:
    """The folder that `.git` is, or that it names as a file: in a work tree of its own or a submodule."""
    if os.path.isdir(git):
        return git
    try:
        with open(git, encoding="utf-8", errors="surrogateescape") as stream:
            named = stream.read().removeprefix("gitdir:").strip()
    except OSError:
        return git
    return os.path.join(os.path.dirname(git), named)


def _read(git: str) -> bytes:
    try:
        with open(os.path.join(git, "index"), "rb") as stream:
            data = stream.read()
    except (OSError, ValueError):
        return b""
    return b"" if int.from_bytes(data[4:8], "big") == _PREFIXED else data
