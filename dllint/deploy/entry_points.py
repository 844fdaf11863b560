"""The commands that a project installs: `[project.scripts]`, those of poetry, `console_scripts` of setuptools."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from dllint.patterns import pattern
from dllint.syntax.toml import tables_of

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_SETUPTOOLS = ("setup.cfg", "setup.py")
_CONSOLE = "console_scripts"
_ENTRY = pattern(
    r"(?:^|[\"'])[ \t]*([A-Za-z0-9][\w.-]*)[ \t]*=[ \t]*([A-Za-z_][\w.]*)[ \t]*:[ \t]*([A-Za-z_]\w*)", re.MULTILINE
)
"""One entry of setuptools: a line, or a string, `name = module:function`."""


class EntryPoint(NamedTuple):
    """What a command runs."""

    module: str
    """Its dotted name."""
    function: str
    """Empty where no other command runs anything of the module: then all of it counts."""


def entry_point(program: str, folder: str, plan: Plan) -> EntryPoint | None:
    """What the command of this name runs, as the project that a folder belongs to installs it; None for any other."""
    name = os.path.basename(program)
    return plan.shared(_Installed).of(folder, plan).get(name) if name else None


class _Installed:
    """The commands of each folder's project; they are read once."""

    def __init__(self, plan: Plan) -> None:
        self._found: dict[str, dict[str, EntryPoint]] = {}

    def of(self, folder: str, plan: Plan) -> dict[str, EntryPoint]:
        """By name; those of the nearest folder that has any, upwards to the top of the project."""
        if folder not in self._found:
            above = os.path.dirname(folder)
            is_top = folder == plan.root or above == folder or not folder.startswith(plan.root)
            found = _narrowed(dict(_entries(folder, plan)))
            self._found[folder] = found or ({} if is_top else self.of(above, plan))
        return self._found[folder]


def _narrowed(entries: dict[str, tuple[str, str]]) -> dict[str, EntryPoint]:
    modules = [module for module, _ in set(entries.values())]
    return {
        name: EntryPoint(module, function if modules.count(module) > 1 else "")
        for name, (module, function) in entries.items()
    }


def _entries(folder: str, plan: Plan) -> Iterator[tuple[str, tuple[str, str]]]:
    for name in _SETUPTOOLS:
        text = plan.read_aside(name, folder) or ""
        if _CONSOLE in text:
            yield from ((found[1], (found[2], found[3])) for found in _ENTRY.finditer(text))
    tables = _tables(plan.read_aside("pyproject.toml", folder) or "")
    for keys in (("project", "scripts"), ("project", "gui-scripts"), ("tool", "poetry", "scripts")):
        for name, value in _table(tables, keys).items():
            reference = value.get("reference") or value.get("callable") if isinstance(value, dict) else value
            module, _, function = str(reference).partition(":")
            yield name, (module.strip(), function.partition("[")[0].strip())


def _tables(text: str) -> dict[str, Any]:
    return tables_of(text) if "scripts" in text else {}


def _table(tables: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    found: Any = tables
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}
