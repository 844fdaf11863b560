"""Commands after which other code runs than the project holds: `git checkout old-branch`."""

from __future__ import annotations

import os
from collections.abc import Sequence

_MAIN = frozenset({"main", "master", "trunk", "HEAD", ".", "-"})
_NEW = frozenset({"-b", "-B", "-c", "-C", "--orphan", "--create", "--"})
"""Options of what makes a branch of the code as it is, or only takes files back."""
_BRANCH = ("-b", "--branch")


def is_another_version(command: Sequence[str]) -> bool:
    """Whether a command takes another version of the code than the main branch: nobody sees what is in that."""
    if len(command) < 3 or os.path.basename(command[0]) != "git":
        return False
    if "clone" in command:
        return _cloned(command) not in (*_MAIN, "")
    at = next((number for number, word in enumerate(command) if word in ("checkout", "switch")), None)
    if at is None or not _NEW.isdisjoint(command[at:]):
        return False
    named = [word for word in command[at + 1 :] if not word.startswith("-") and "$" not in word]
    return len(named) == 1 and named[0].rpartition("/")[2] not in _MAIN


def _cloned(command: Sequence[str]) -> str:
    """The branch that `git clone` takes; empty for the main one, or one that is not known."""
    for word, after in zip(command, (*command[1:], ""), strict=True):
        name, equals, value = word.partition("=")
        if name in _BRANCH:
            branch = value if equals else after
            return "" if "$" in branch else branch
    return ""
