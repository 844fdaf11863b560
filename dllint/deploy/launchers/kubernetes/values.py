"""What is known of the values of a manifest: text that a template or a variable makes is not known."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from dllint.deploy.sizes import quantity
from dllint.deploy.workload import Setting
from dllint.patterns import pattern
from dllint.syntax.tree import Tree

_T = TypeVar("_T")

UNSEEN = "{{"
"""How the key of an entry starts that a template puts in and that nobody can see."""
MAYBE = "tag:dllint,2026:maybe"
"""The tag of a value that a template puts in under a condition that cannot be told."""

_PLACEHOLDER = pattern(r"\{\{|\$\{|\$\(|\$[A-Za-z_]|<[A-Za-z_ .-]+>|@[A-Za-z_]+@|%[A-Za-z_]+%|__[A-Z_]+__|\{[A-Za-z_]")


def is_known(text: str) -> bool:
    """Whether a text stands for itself: no template, variable or gap to fill in."""
    return not _PLACEHOLDER.search(text)


def is_conditional(tree: Tree) -> bool:
    """Whether a value is there only under a condition that cannot be told."""
    return tree.tag == MAYBE or (tree.key is not None and str(tree.key.tag) == MAYBE)


def has_unseen_keys(tree: Tree | None) -> bool:
    """Whether a template may put further keys into a mapping."""
    return tree is not None and any(key.startswith(UNSEEN) for key, _ in tree.pairs())


def known_text(tree: Tree) -> str | None:
    """The text of a scalar that is known."""
    text = tree.text
    return text if text is not None and is_known(text) and not is_conditional(tree) else None


def setting(tree: Tree | None, read: Callable[[str], _T | None]) -> Setting[_T] | None:
    """A value as a setting; None where it is missing or null."""
    if tree is None or tree.is_null:
        return None
    text = known_text(tree)
    return Setting(read(text) if text is not None else None, tree.at, tree.text or "")


def whole(text: str) -> int | None:
    """A quantity in whole units, such as bytes."""
    value = quantity(text)
    return int(value) if value is not None else None


def number(text: str) -> float | None:
    """A quantity as a number, such as processors."""
    value = quantity(text)
    return float(value) if value is not None else None
