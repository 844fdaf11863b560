"""Commands in the tables of a TOML file that a runner of tasks reads: pixi, PDM, Hatch, Poe the Poet, taskipy, Rye."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from dllint.deploy.commands import Script
from dllint.syntax.mapped import Mapped
from dllint.syntax.toml import tables_of

if TYPE_CHECKING:
    from dllint.deploy.texts import DeployFile

_PIXI = (("tasks",), ("feature", "*", "tasks"), ("target", "*", "tasks"), ("feature", "*", "target", "*", "tasks"))
_TABLES = (
    *(("tool", "pixi", *path) for path in _PIXI),
    ("tool", "pdm", "scripts"),
    ("tool", "hatch", "envs", "*", "scripts"),
    ("tool", "poe", "tasks"),
    ("tool", "taskipy", "tasks"),
    ("tool", "rye", "scripts"),
)
"""Where the tables stand; `*` is any key."""
_COMMANDS = ("cmd", "shell", "command")
"""Keys of a task under which its command stands."""


class _Task(NamedTuple):
    command: str
    folder: str
    """As written: where it is run, seen from the file."""


def tasks(file: DeployFile) -> Iterator[Script]:
    """The commands of all tasks, each where it stands in the file."""
    tables = tables_of(file.text)
    paths = _PIXI if file.name == "pixi.toml" else _TABLES
    after: dict[str, int] = {}
    for task in (task for path in paths for table in _at(tables, path) for task in _of_table(table)):
        start = _place(file.text, task.command, after.get(task.command, 0))
        if start >= 0:
            after[task.command] = start + len(task.command)
            folder = os.path.normpath(os.path.join(file.folder, task.folder))
            yield Script(Mapped(task.command, start), folder)


def _at(tables: dict[str, Any], path: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The tables under these keys within one another."""
    if not path:
        yield tables
        return
    keys = list(tables) if path[0] == "*" else [path[0]]
    for inner in (tables.get(key) for key in keys):
        if isinstance(inner, dict):
            yield from _at(inner, path[1:])


def _of_table(table: dict[str, Any]) -> Iterator[_Task]:
    for value in table.values():
        task = value if isinstance(value, dict) else {"cmd": value}
        folder = task.get("cwd", task.get("working_dir", ""))
        for given in (task.get(key) for key in _COMMANDS):
            # A list is one command's words, but for Hatch, where it has more commands: those have space.
            listed = given if isinstance(given, list) else [given]
            yield from (_Task(each, str(folder)) for each in listed if isinstance(each, str) and " " in each)


def _place(text: str, command: str, start: int) -> int:
    """Where a command stands as a string, from there on; -1 where it is written with escapes."""
    places = (text.find(quote + command, start) for quote in ('"', "'", "\n"))
    found = [place + 1 for place in places if place >= 0]
    return min(found, default=-1)
