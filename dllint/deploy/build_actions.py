"""The steps of GitHub's workflows that build images: `uses: docker/build-push-action@v6`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.deploy.workload import Build
from dllint.finding import Location
from dllint.syntax.tree import Tree

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan
    from dllint.deploy.texts import DeployFile

_ACTION = "docker/build-push-action"
_DEFAULT_CONTEXT = "{{defaultContext}}"
"""The action's own word for the top of the repository, which it is checked out to."""


class BuildStep(NamedTuple):
    """One step whose context and Dockerfile are known."""

    at: Location
    build: Build
    tags: tuple[str, ...]
    shm_size: Location | None
    """Where it sizes the shared memory of the build."""


def build_steps(file: DeployFile, plan: Plan) -> Iterator[BuildStep]:
    """The steps of a workflow, or of an action that is made of steps."""
    if not file.has(_ACTION.encode()):
        return
    for step in (part for tree in file.documents.trees for part in tree.walk()):
        given = step.get("with")
        if not step.text_of("uses").startswith((_ACTION + "@", _ACTION + "/")) or given is None:
            continue
        build = _build(given, plan)
        if build is not None:
            size = given.get("shm-size")
            tags = tuple(tag.strip() for text in _texts(given, "tags") for tag in text.replace(",", "\n").split("\n"))
            yield BuildStep(step.at, build, tuple(filter(None, tags)), size.at if size is not None else None)


def _texts(given: Tree, key: str) -> list[str]:
    found = given.get(key)
    return found.texts() if found is not None else []


def _build(given: Tree, plan: Plan) -> Build | None:
    """What a step builds; None where an expression decides, or the context lies elsewhere."""
    top, _, below = given.text_of("context").partition(":")
    context = below if top == _DEFAULT_CONTEXT else given.text_of("context")
    dockerfile, target = given.text_of("file"), given.text_of("target")
    if any("${{" in text for text in (context, dockerfile, target)) or "://" in context or context.startswith("git@"):
        return None
    folder = os.path.normpath(os.path.join(plan.root, context))
    path = os.path.normpath(os.path.join(plan.root, dockerfile)) if dockerfile else ""
    pairs = (line.partition("=") for text in _texts(given, "build-args") for line in text.split("\n"))
    arguments = tuple((name.strip(), value) for name, _, value in pairs if value and "${{" not in value)
    return Build(folder, path, target, arguments=arguments)
