"""Google Cloud Batch: the container runnables of a job, whose `options` are those of `docker run`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.deploy.commands import Word
from dllint.deploy.docker_cli import Invocation, Option, run_options
from dllint.deploy.docker_options import apply
from dllint.deploy.launchers.docker_run import image_flaws
from dllint.deploy.option_words import words_of
from dllint.deploy.texts import DeployFile
from dllint.deploy.workload import Launcher, Setting, ShmSource, Start, Workload
from dllint.finding import Location
from dllint.syntax.tree import Tree

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

GCP_BATCH = Launcher("Google Batch", "give the container `options: --shm-size={size}`")


def find(file: DeployFile, plan: Plan) -> Iterator[Workload]:
    """The containers that the jobs of a file run."""
    for document in file.documents.trees:
        for group in _items(document.get("taskGroups")):
            for runnable in _items(group.get("taskSpec", "runnables")):
                container = runnable.get("container")
                image = container.get("imageUri") if container is not None else None
                if container is not None and image is not None:
                    yield _workload(container, image, file, plan)


def _workload(container: Tree, image: Tree, file: DeployFile, plan: Plan) -> Workload:
    options = container.get("options")
    found = Workload(
        GCP_BATCH,
        file.path,
        file.line_at(options.key_at.row) if options is not None else _head(container, image),
        folder=file.folder,
        image=Setting(None if _is_variable(image.text) else image.text, image.at, image.text or ""),
        start=_start(container),
    )
    apply(_invocation(container, options, file), found)
    if found.shm.source is ShmSource.DEFAULT:
        found.flaws += image_flaws(found, plan)
    return found


def _head(container: Tree, image: Tree) -> Location:
    """The container, down to its image."""
    start, end = container.key_at, image.at
    return Location(start.path, start.row, start.column, end.end_row, end.end_column)


def _start(container: Tree) -> Start:
    entrypoint = container.text_of("entrypoint")
    words = tuple(item.text or "" for item in _items(container.get("commands")))
    return Start((entrypoint,) if entrypoint else None, words or None)


def _invocation(container: Tree, options: Tree | None, file: DeployFile) -> Invocation:
    """The options, and the volumes beside them."""
    found = run_options("docker", words_of(options, file) if options is not None else [])
    volumes = [
        Word(item.text or "", item.at, known=not _is_variable(item.text)) for item in _items(container.get("volumes"))
    ]
    is_open = found.has_unknown or bool(found.rest)
    return found._replace(
        options=found.options + [Option("volume", word, word) for word in volumes], has_unknown=is_open
    )


def _is_variable(text: str | None) -> bool:
    return text is None or "${" in text or "{{" in text


def _items(tree: Tree | None) -> list[Tree]:
    return tree.items() if tree is not None else []
