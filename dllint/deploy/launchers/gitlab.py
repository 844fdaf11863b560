"""GitLab CI: jobs with an image, which they may have from `extends`, `default`, the top of a file, or the runner."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from yaml.nodes import MappingNode

from dllint.deploy.launchers.gitlab_includes import ROOT, files_of, included
from dllint.deploy.launchers.gitlab_runner import Runner, runner_of
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


class _Pipeline:
    """The top levels of all files of one pipeline."""

    def __init__(self, files: list[DeployFile], runner: Runner) -> None:
        self.trees = [(tree, file) for file in files for tree in file.documents.trees]
        self.runner = runner

    def around(self, own: Tree) -> Iterator[Tree]:
        """The top levels that a job of one of them sees, its own first."""
        yield own
        yield from (tree for tree, _ in self.trees if tree is not own)

    def named(self, name: str, own: Tree) -> Tree | None:
        """The job, or template, of a name."""
        return next((found for tree in self.around(own) if (found := tree.get(name)) is not None), None)


def find(file: DeployFile, plan: Plan) -> Iterator[Workload]:
    """The jobs of a file, and of those that it includes: one container for each image that is written there, which runs
    what any of its jobs run."""
    if file.absolute in plan.shared(included) and not file.name.endswith(ROOT):
        return
    pipeline = _Pipeline(files_of(file, plan), runner_of(plan))
    by_image: dict[Location, list[_Job]] = {}
    for tree, own in pipeline.trees:
        for name, job in tree.pairs():
            found = _job(name, job, tree, own, pipeline)
            if found is not None:
                by_image.setdefault(found.at, []).append(found)
    for jobs in by_image.values():
        first = jobs[0]
        yield Workload(
            GITLAB,
            first.at.path,
            first.at,
            first.name if len(jobs) == 1 else "",
            plan.root,
            first.image,
            start=first.start,
            also_runs=tuple(job.start for job in jobs[1:]),
            shm=pipeline.runner.shm,
        )


def _job(name: str, job: Tree, tree: Tree, file: DeployFile, pipeline: _Pipeline) -> _Job | None:
    """A job that runs; hidden ones, whose names start with a dot, are there to be extended."""
    if name == "default" or name.startswith(".") or not job.is_mapping:
        return None
    layers = list(_layers(job, tree, pipeline, 0))
    script = _first(layers, "script")
    image = _image(job, layers, pipeline) if script is not None else None
    if image is None:
        return None
    parts = (_first(layers, key) for key in _SCRIPTS)
    lines = [line for part in parts if part is not None for line in _lines(part, 0)]
    tops = reversed(list(pipeline.around(tree)))
    variables = {key: v.text for layer in (*tops, *reversed(layers)) for key, v in _pairs(layer, "variables")}
    name_of_image = _VARIABLE.sub(lambda found: variables.get(found[1] or found[2]) or found[0], image.text)
    setting = Setting(None if "$" in name_of_image else name_of_image, image.at, image.text)
    at = image.at if image.at.path != file.path else file.line_at(image.at.row)
    return _Job(name, setting, at, Start(("\n".join(lines),)))


def _image(job: Tree, layers: list[Tree], pipeline: _Pipeline) -> Setting[str] | None:
    """The image as it is written; for a job that says nothing that of the runner."""
    image = _first(layers, "image")
    if image is None:
        own = pipeline.runner.image if _UNSEEN not in layers else ""
        return Setting(own, job.key_at, own) if own else None
    written = image if image.text is not None else image.get("name")
    return Setting(written.text, written.at, written.text) if written is not None and written.text else None


def _layers(job: Tree, tree: Tree, pipeline: _Pipeline, depth: int) -> Iterator[Tree]:
    """What a job is made of, the nearest first: itself, what it extends, the defaults, and the tops of the files."""
    yield job
    extended = job.get("extends")
    names = extended.texts() if extended is not None and depth < _DEEPEST else []
    for name in reversed(names):
        parent = pipeline.named(name, tree)
        known = parent is not None and depth < _DEEPEST
        yield from _layers(parent, tree, pipeline, depth + 1) if parent is not None and known else (_UNSEEN,)
    if depth == 0:
        tops = list(pipeline.around(tree))
        yield from (layer for top in tops if (layer := top.get("default")) is not None)
        yield from tops


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
