"""What the defaults list of a config file of Hydra names: groups, each with the config chosen of it, and packages."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from dllint.code.language.modules import Module
from dllint.patterns import pattern

SELF, NONE = "_self_", "null"
_GLOBAL, _GROUP, _HERE = "_global_", "_group_", "_here_"
_HEADER = pattern(r"#[ \t]{0,9}@")
"""What each line begins with that Hydra reads about a file; the first other one ends them."""
_PACKAGE = pattern(r"#[ \t]{0,9}@package[ \t]{1,9}([\w.]{1,200})")


class Entry(NamedTuple):
    """What an entry of a defaults list names."""

    group: str
    """The folder, from that of the whole config on."""
    config: str
    package: str
    """The keys that it is put under, below those of the file that names it, if its own file says nothing else."""
    key: str = ""
    """By what the command, or another file, chooses something else; empty where that can't be."""
    is_packaged: bool = False
    """Whether the entry says under which keys, whatever its file says."""
    is_optional: bool = False
    overrides: bool = False
    """Whether it says what another entry is to choose."""


def listed(held: ast.Dict) -> list[ast.expr]:
    """The defaults list of a file."""
    found = next((value for name, value in pairs_of(held) if name == "defaults"), None)
    return found.elts if isinstance(found, ast.List) else []


def entry_of(item: ast.expr, group: str) -> Entry | None:
    """`data: images`, `optional data@train: images`, `base`; None for one that is not followed."""
    if isinstance(item, ast.Constant) and isinstance(item.value, str):
        where, _, package = item.value.partition("@")
        folder, name = os.path.split(where)
        if where.startswith("/") and group and not package:
            return None  # under which keys is not followed
        return Entry(_place(folder, group), name, package or keys_of(folder), is_packaged=bool(package))
    written, value = next(pairs_of(item), ("", item)) if isinstance(item, ast.Dict) else ("", item)
    words = written.split()
    if not words or not isinstance(value, ast.Constant):
        return None
    where, at, package = words[-1].partition("@")
    place = _place(where, group)
    config = NONE if value.value is None else str(value.value)
    if "override" in words[:-1]:
        return Entry(place, config, "", words[-1].lstrip("/"), overrides=True)
    if where.startswith("/") and group and not package:
        return None
    is_optional = "optional" in words[:-1]
    return Entry(place, config, package or keys_of(where), f"{place}{at}{package}", bool(package), is_optional)


def keys_of(folder: str) -> str:
    """The keys that the configs of a group are put under by default."""
    return folder.strip("/").replace("/", ".")


def _place(folder: str, group: str) -> str:
    """The folder of a group, as an entry in a file of another group names it."""
    return folder.strip("/") if folder.startswith("/") else os.path.join(group, folder).strip("/")


def package_of(module: Module, package: str) -> str:
    """The keys that a file says it is put under; else those that it is put under by default."""
    lines = (line.strip() for line in module.source.lines)
    header = takewhile(_HEADER.match, (line for line in lines if line))
    found = next((found for line in header if (found := _PACKAGE.match(line)) is not None), None)
    return package if found is None or found[1] == _GROUP else under("", found[1])


def under(parent: str, package: str) -> str:
    """The keys of a package, below those of the file that names it."""
    if package == _GLOBAL or package.startswith(_GLOBAL + "."):
        return package.removeprefix(_GLOBAL).removeprefix(".")
    below = package.removeprefix(_HERE).removeprefix(".")
    return f"{parent}.{below}".strip(".")


def pairs_of(held: ast.Dict) -> Iterator[tuple[str, ast.expr]]:
    """The entries of a mapping by their names, those of merge keys (`<<: *base`) first."""
    pairs = list(zip(held.keys, held.values, strict=True))
    for key, value in pairs:
        if key is None and isinstance(value, ast.Dict):
            yield from pairs_of(value)
    yield from ((str(key.value), value) for key, value in pairs if isinstance(key, ast.Constant))
