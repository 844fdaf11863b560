"""The config files that Hydra puts together for a script: its own one, and those that the defaults lists name."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language.scopes import dotted

if TYPE_CHECKING:
    from dllint.code.language.modules import Module
    from dllint.deploy.plan import Plan
    from dllint.deploy.runs import ScriptRun
    from dllint.deploy.texts import DeployFile
    from dllint.syntax.tree import Tree

_SUFFIXES = (".yaml", ".yml")
_MOST = 60
"""Files of one script that are read."""


def files_of(run: ScriptRun, plan: Plan) -> list[DeployFile]:
    """The config files of a script that Hydra starts, with the groups that its command chooses; none where it is none,
    or one of them is not seen."""
    if run.module is None or not run.module.has(b"hydra"):
        return []
    given = run.given()
    found: list[DeployFile] = []
    for home, name in _mains(run.module):
        pending = [("", given.get("config_name") or given.get("cn") or name)]
        while pending:
            group, config = pending.pop()
            file = _file(os.path.join(home, group, config), plan)
            if file is None or len(found) > _MOST:
                return []
            if file not in found:
                found.append(file)
                pending += _defaults(file, group, given)
    return found


def _mains(module: Module) -> Iterator[tuple[str, str]]:
    """The folder and the name that the script tells Hydra."""
    for node in ast.walk(module.scope.node):
        if not isinstance(node, ast.Call) or dotted(node.func) != "hydra.main":
            continue
        given = dict(zip(("config_path", "config_name"), node.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        parts = [given.get(name) for name in ("config_path", "config_name")]
        texts = [each.value for each in parts if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        if len(texts) == 2:
            yield os.path.normpath(os.path.join(os.path.dirname(module.absolute), texts[0])), texts[1]


def _file(place: str, plan: Plan) -> DeployFile | None:
    places = [place] if place.endswith(_SUFFIXES) else [place + suffix for suffix in _SUFFIXES]
    return next((file for each in places if (file := plan.file_at(each, "")) is not None), None)


def _defaults(file: DeployFile, group: str, given: dict[str, str]) -> Iterator[tuple[str, str]]:
    """What the defaults list of a file names: groups, each with the config chosen of it."""
    for tree in file.documents.trees:
        listed = tree.get("defaults")
        for item in listed.items() if listed is not None else ():
            yield from _listed(item, group, given)


def _listed(item: Tree, group: str, given: dict[str, str]) -> Iterator[tuple[str, str]]:
    """What one entry names: `data: images`, `override /data: images`, `base`."""
    if item.text and item.text != "_self_":
        yield _within(os.path.dirname(item.text), group, item.text), os.path.basename(item.text)
    for key, value in item.pairs():
        name = key.rpartition(" ")[2].partition("@")[0]
        place = _within(name, group, name)
        chosen = given.get(place, value.text)
        if chosen and chosen != "null" and not place.startswith("hydra"):
            yield place, chosen


def _within(folder: str, group: str, written: str) -> str:
    """The folder of a group, as an entry in a file of another group names it."""
    return folder.strip("/") if written.startswith("/") else os.path.join(group, folder).strip("/")
