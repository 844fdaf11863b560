"""The files of a folder that say which torch and which Python a project runs with, and what each of them says."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dllint.code.loaders.versions import Range, ranges
from dllint.patterns import pattern
from dllint.records import dataclass

_LISTS = ("requirements", "constraints")
"""What the names of such lists hold."""
_LIST_SUFFIXES = (".txt", ".in")
_CONDA = pattern(r"(?=[\w.-]*\.ya?ml$)[\w.-]*?(?:env|conda)")
_FOLDERS = ("requirements", "requires", "deps")
"""Folders that hold such lists: `requirements/base.txt`."""
_CONDA_FOLDERS = ("conda", "env", "envs", "environments")
"""Folders that hold what conda makes environments from: `env/env.yaml`."""
_ASIDE = pattern(r"(?:^|[^a-z])(?:min|minimum|old|oldest|lowest|tests?|dev|docs?|ci|lint)(?:[^a-z]|$)")
"""What the names of lists hold that are for the project's own tests."""
_LARGEST = 1_000_000
_LARGEST_LOCK = 20_000_000
"""Bytes of a file that is looked at."""

_TORCH = ("torch", "pytorch", "pytorch-cpu", "pytorch-gpu")
_REQUIREMENT = pattern(
    r"(?<![\w./-])(?:py)?torch(?:-[cg]pu)?(?:[ \t]*\[[^\]\n]{0,200}\])?[ \t]*(?P<spec>[=<>~!(^][^\"'#;\n]*|@\s*\S+)"
)
_NESTED = pattern(r"(?m)^[ \t]*(?:-r|-c|--requirement|--constraint)[ =\t]*([\w./-]+)")
_CONDA_PYTHON = pattern(r"(?m)^[ \t]*-[ \t]*['\"]?python[ \t]*([=<>~!][^\"'#;\n]*)")
_SETUP_PYTHON = pattern(r"python_requires['\"]?[ \t]*[=:][ \t]*['\"]?([=<>~!][^\"'#;\n]*)")
_KEYS = r"(?:[\w-]+ = [^\n]{0,4000}\n){0,6}?"
_LOCKED = pattern(rb'name = "torch"\r?\n' + _KEYS.encode() + rb'version = "(\d{1,9})\.(\d{1,9})')
_LOCKED_PYTHON = pattern(rb'(?m)^requires-python = "([^"\n]*)"')
_PIPFILE_LOCKED = pattern(rb'"torch": \{[^{}]*?"version": "==(\d{1,9})\.(\d{1,9})')
_LOCKED_URL = pattern(rb"/(?:py)?torch-(\d{1,9})\.(\d{1,9})[\d.]*(?:-|\+|%2B)")

_LOCKS = {
    "uv.lock": _LOCKED,
    "poetry.lock": _LOCKED,
    "pdm.lock": _LOCKED,
    "pylock.toml": _LOCKED,
    "Pipfile.lock": _PIPFILE_LOCKED,
    "pixi.lock": _LOCKED_URL,
    "conda-lock.yml": _LOCKED_URL,
}
_TOMLS = ("pyproject.toml", "pixi.toml", "Pipfile")
_SETUPS = ("setup.py", "setup.cfg")
_PACKAGES = (*_TOMLS, *_SETUPS)


@dataclass(frozen=True, slots=True)
class Said:
    """What one file says."""

    torch: tuple[Range, ...] = ()
    python: tuple[Range, ...] = ()


def beside(root: str) -> Iterator[str]:
    """The files in a folder, and in folders below it that hold requirements, which may say something."""
    yield from (path for path in _files(root) if _reader(path) is not None)
    for name in _FOLDERS:
        yield from (path for path in _files(os.path.join(root, name)) if path.endswith(_LIST_SUFFIXES))
    for name in _CONDA_FOLDERS:
        yield from (path for path in _files(os.path.join(root, name)) if _CONDA.match(os.path.basename(path)))


def _files(folder: str) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    except OSError:
        return []


def read(path: str) -> Said:
    """What a file says; nothing if it cannot be read."""
    reader = _reader(path)
    if reader is None:
        return Said()
    said = reader(path)
    return Said(tuple(_marked(path, said.torch)), said.python)


def _marked(path: str, torch: tuple[Range, ...]) -> Iterator[Range]:
    """Mark what is for tests: by the name of the list, or beside a requirement of the same file that is open above."""
    name = os.path.basename(path)
    aside = bool(_ASIDE.search(name)) or any(found.newest is None for found in torch)
    yield from (Range(found.oldest, found.newest, aside, name in _PACKAGES) for found in torch)


def _reader(path: str) -> Callable[[str], Said] | None:
    """What reads a file; None for a file that says nothing of this."""
    folder, name = os.path.split(path)
    if name in _LOCKS:
        return _lock
    if name in _TOMLS:
        return _toml
    if name == ".python-version":
        return _python_version
    if name in _SETUPS:
        return _setup
    if name.endswith(_LIST_SUFFIXES):
        held = os.path.basename(folder) in _FOLDERS or any(word in name for word in _LISTS)
        return _list if held else None
    return _conda if _CONDA.match(name) else None


def _bytes(path: str, largest: int = _LARGEST) -> bytes:
    try:
        if os.path.isfile(path) and os.path.getsize(path) <= largest:  # a pipe would wait for ever
            with open(path, "rb") as stream:
                return stream.read()
    except OSError:
        pass
    return b""


def _text(path: str) -> str:
    """A file without the lines that are comments."""
    lines = _bytes(path).decode("utf-8", "replace").splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("#"))


def _all(specs: Iterable[str]) -> tuple[Range, ...]:
    return tuple(found for spec in specs for found in ranges(spec))


# Texts with one requirement a line, or as quoted strings


def _requirements(text: str) -> tuple[Range, ...]:
    return _all(match.group("spec") for match in _REQUIREMENT.finditer(text))


def _list(path: str) -> Said:
    text = _text(path)
    found = _requirements(text)
    for match in _NESTED.finditer(text):
        other = os.path.join(os.path.dirname(path), match[1])
        found += _requirements(_text(other)) if os.path.isfile(other) else ()
    return Said(found)


def _conda(path: str) -> Said:
    text = _text(path)
    return Said(_requirements(text), _all(_CONDA_PYTHON.findall(text)))


def _setup(path: str) -> Said:
    text = _text(path)
    return Said(_requirements(text), _all(_SETUP_PYTHON.findall(text)))


def _python_version(path: str) -> Said:
    text = _text(path).strip()
    return Said((), _all([text]) if re.match(r"3\.\d", text) else ())


# Lock files


def _lock(path: str) -> Said:
    """What a lock file has chosen."""
    data = _bytes(path, _LARGEST_LOCK)
    chosen = {(int(major), int(minor)) for major, minor in _LOCKS[os.path.basename(path)].findall(data)}
    head = data[:4000]
    pythons = _all(spec.decode("utf-8", "replace") for spec in _LOCKED_PYTHON.findall(head))
    return Said(tuple(Range(version, version) for version in sorted(chosen)), pythons)


# TOML


def _toml(path: str) -> Said:
    """The requirements of pyproject.toml (PEP 621, groups, Poetry, PDM, uv, pixi), of pixi.toml or of a Pipfile."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    data = _bytes(path)
    if b"torch" not in data and b"python" not in data:
        return Said()
    try:
        tables: dict[str, Any] = tomllib.loads(data.decode("utf-8", "replace"))
    except ValueError:  # no TOML, or a number of more digits than Python reads
        return Said()
    return Said(_all(_entries(tables, "", 0)), _all(_pythons(tables)))


def _entries(node: object, name: str, depth: int) -> Iterator[str]:
    """The specifiers of torch: in strings such as "torch>=2", and under a key `torch` of a table of dependencies."""
    if depth > 8:
        return
    if isinstance(node, dict):
        holds_dependencies = name.endswith(("dependencies", "packages"))
        for key, value in node.items():
            if holds_dependencies and str(key).lower() in _TORCH:
                yield from _specifiers(value)
            elif key not in ("scripts", "urls", "classifiers", "keywords", "description", "tasks"):
                yield from _entries(value, str(key), depth + 1)
    elif isinstance(node, list):
        for item in node:
            match = _REQUIREMENT.match(item.strip()) if isinstance(item, str) else None
            if match is not None:
                yield match.group("spec")
            elif not isinstance(item, str):
                yield from _entries(item, name, depth + 1)


def _specifiers(value: object) -> Iterator[str]:
    """`"^1.13"`, `{version = "^1.13"}`, or a list of these; of an extra that is called torch, what it asks for."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _specifiers(value.get("version") or value.get("url"))
    elif isinstance(value, list):
        if any(isinstance(item, str) for item in value):
            yield from _entries(value, "", 0)
        else:
            for item in value:
                yield from _specifiers(item)


def _pythons(tables: dict[str, Any]) -> Iterator[str]:
    """The specifiers of Python."""
    tool = _table(tables, "tool")
    yield from _specifiers(_table(tables, "project").get("requires-python"))
    yield from _specifiers(_table(tables, "requires").get("python_version"))
    for holder in (tables, _table(tool, "poetry"), _table(tool, "pixi")):
        yield from _specifiers(_table(holder, "dependencies").get("python"))


def _table(tables: dict[str, Any], name: str) -> dict[str, Any]:
    found = tables.get(name)
    return found if isinstance(found, dict) else {}
