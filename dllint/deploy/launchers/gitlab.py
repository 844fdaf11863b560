"""GitLab CI: jobs with an image, which they may have from `extends`, `default` or the top of the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from yaml.nodes import MappingNode

from dllint.deploy.texts import DeployFile
from dllint.deploy.workload import Launcher, Setting, Start, Workload
from dllint.finding import Location
from dllint.patterns import pattern
from dllint.syntax.tree import Tree

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

GITLAB = Launcher(
    "GitLab CI", "set `shm_size = {size}` below `[runners.docker]` in the runner's config.toml", "{bytes}", checks=True
)
_SCRIPTS = ("before_script", "script", "after_script")
_VARIABLE = pattern(r"\$(?:(\w+)|\{(\w+)\})", re.ASCII)
_UNSEEN = Tree(MappingNode("", []))
"""Stands for a job in another file that one extends."""
_DEEPEST = 11
"""Jobs that extend one another are followed so far, as GitLab does."""


class _Job(NamedTuple):
    name: str
    image: Setting[str]
    at: Location
    start: Start


def find(tree: Tree, file: DeployFile, plan: Plan) -> Iterator[Workload]:
    """The jobs of a file: one container for each image that is written there, which runs what any of its jobs run."""
    by_image: dict[Location, list[_Job]] = {}
    for name, job in tree.pairs():
        found = _job(name, job, tree, file)
        if found is not None:
            by_image.setdefault(found.at, []).append(found)
    for jobs in by_image.values():
        first = jobs[0]
        yield Workload(
            GITLAB,
            file.path,
            first.at,
            first.name if len(jobs) == 1 else "",
            plan.root,
            first.image,
            start=first.start,
            also_runs=tuple(job.start for job in jobs[1:]),
        )


def _job(name: str, job: Tree, tree: Tree, file: DeployFile) -> _Job | None:
    """A job that runs; hidden ones, whose names start with a dot, are there to be extended."""
    if name == "default" or name.startswith(".") or not job.is_mapping:
        return None
    layers = list(_layers(job, tree, 0))
    image, script = _first(layers, "image"), _first(layers, "script")
    if image is None or script is None:
        return None
    written = image if image.text is not None else image.get("name")
    if written is None or not written.text:
        return None
    parts = (_first(layers, key) for key in _SCRIPTS)
    lines = [line for part in parts if part is not None for line in _lines(part, 0)]
    variables = {key: value.text for layer in (tree, *reversed(layers)) for key, value in _pairs(layer, "variables")}
    name_of_image = _VARIABLE.sub(lambda found: variables.get(found[1] or found[2]) or found[0], written.text)
    setting = Setting(None if "$" in name_of_image else name_of_image, written.at, written.text)
    return _Job(name, setting, file.line_at(written.at.row), Start(("\n".join(lines),)))


def _layers(job: Tree, tree: Tree, depth: int) -> Iterator[Tree]:
    """What a job is made of, the nearest first: itself, what it extends, the defaults, and the top of the file."""
    yield job
    extended = job.get("extends")
    names = extended.texts() if extended is not None and depth < _DEEPEST else []
    for name in reversed(names):
        parent = tree.get(name)
        yield from _layers(parent, tree, depth + 1) if parent is not None and depth < _DEEPEST else (_UNSEEN,)
    if depth == 0:
        yield from (layer for layer in (tree.get("default"), tree) if layer is not None)


def _first(layers: list[Tree], key: str) -> Tree | None:
    """The value of a key that counts; none behind a layer that stands in a file nobody sees."""
    for layer in layers:
        if layer is _UNSEEN:
            return None
        found = layer.get(key)
        if found is not None and not found.is_null:
            return found
    return None


def _lines(part: Tree, depth: int) -> Iterator[str]:
    """The commands of a script, whose items may be lists of others (`- *setup`)."""
    if part.text is not None:
        yield part.text
    elif depth < _DEEPEST and part.tag != "!reference":
        for item in part.items():
            yield from _lines(item, depth + 1)


def _pairs(tree: Tree, key: str) -> list[tuple[str, Tree]]:
    found = tree.get(key)
    return found.pairs() if found is not None else []
