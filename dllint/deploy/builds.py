"""Images that the project builds: by its commands (`docker build -t TAG -f FILE CONTEXT`), its docker-bake files, the
steps of its workflows, and its Python through the docker SDK."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.deploy import commands
from dllint.deploy.bakes import bake_targets
from dllint.deploy.build_actions import build_steps
from dllint.deploy.commands import Command, Script, Word, commands_in
from dllint.deploy.docker_cli import Invocation, build_options, subcommand
from dllint.deploy.texts import DeployFile
from dllint.deploy.workload import Build
from dllint.files import Kind
from dllint.finding import Location
from dllint.patterns import pattern
from dllint.syntax.mapped import Mapped

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_NAMES = ("Dockerfile", "Containerfile")
_SUBSTITUTION = pattern(r"\$\(([^()]*)\)|`([^`]*)`")


class DockerBuild(NamedTuple):
    """One command or target that builds an image."""

    tags: tuple[str, ...]
    build: Build
    file: DeployFile
    at: Location
    shm_size: Location | None
    """Where it sizes the shared memory of the build itself."""


def builds(plan: Plan) -> list[DockerBuild]:
    """The builds in the commands of all files, the targets of docker-bake files, and the steps of workflows."""
    return plan.shared(_builds)


def _builds(plan: Plan) -> list[DockerBuild]:
    found = [build for command in commands.every(plan) for build in _of(command, plan)]
    found += [build for file in plan.of_kind(Kind.YAML) for build in _of_steps(file, plan)]
    found += [build for file in plan.of_kind(Kind.HCL, Kind.JSON) for build in _of_bake(file)]
    return found + list(_of_sdk(plan))


def _of_bake(file: DeployFile) -> Iterator[DockerBuild]:
    if not file.has(b"target", b"tags"):
        return
    for target in bake_targets(file):
        yield DockerBuild(target.tags, target.build, file, target.at, target.shm_size)


def _of_steps(file: DeployFile, plan: Plan) -> Iterator[DockerBuild]:
    for step in build_steps(file, plan):
        yield DockerBuild(step.tags, step.build, file, step.at, step.shm_size)


def _of_sdk(plan: Plan) -> Iterator[DockerBuild]:
    if not plan.program.modules_with("docker", "build"):
        return
    from dllint.deploy.code_commands import file_of
    from dllint.deploy.sdk_builds import sdk_builds

    for found in sdk_builds(plan):
        yield DockerBuild((found.tag,), found.build, file_of(found.module), found.at, None)


def _of(command: Command, plan: Plan) -> Iterator[DockerBuild]:
    found = subcommand(command)
    if found is None or found[1] != "build":
        return
    options = build_options(found[0], found[2])
    build = _build(options, command, plan)
    if build is None:
        return
    size = options.last("shm-size")
    tags = tuple(word.text for word in options.values("tag"))
    yield DockerBuild(tags, build, command.file, command.at, size.at if size is not None else None)


def built_within(word: Word, command: Command, plan: Plan) -> Build | None:
    """What `$(docker build -q .)` builds, as the image of a command, or in a variable: it says the id of the image."""
    text = word.text if word.output_of is None else word.output_of.text
    substitution = _SUBSTITUTION.fullmatch(text.strip('"'))
    if substitution is None:
        return None
    script = Script(Mapped(substitution[1] or substitution[2]), command.folder)
    found = [build for inner in commands_in(script, command.file) for build in _of(inner, plan)]
    return found[0].build if len(found) == 1 else None


def _build(options: Invocation, command: Command, plan: Plan) -> Build | None:
    """What is built, if its context and its Dockerfile are files of the project."""
    context = options.rest[-1].text if options.rest else "."
    if (context == "-" and not command.input) or "://" in context or context.startswith("git@"):
        return None
    file = options.last("file")
    name = file.text if file is not None else ""
    name = command.input if name == "-" else name
    if context == "-":  # a Dockerfile from standard input, without a context
        context, name = os.path.dirname(command.input) or ".", command.input
    context = "." if context.startswith("$") else context
    arguments = tuple(_argument(word) for word in options.values("build-arg") if word.known and "=" in word.text)
    target = options.last("target")
    for folder in dict.fromkeys((command.folder, plan.root, os.path.dirname(command.folder))):
        dockerfile = _dockerfile(name, context, folder, plan)
        if dockerfile:
            where = os.path.normpath(os.path.join(folder, context))
            return Build(where, dockerfile, target.text if target is not None else "", arguments=arguments)
    return None


def _dockerfile(name: str, context: str, folder: str, plan: Plan) -> str:
    """The absolute path of the Dockerfile, where the project has it."""
    candidates = [name, os.path.join(context, name)] if name else [os.path.join(context, name) for name in _NAMES]
    found = (plan.file_at(candidate, folder) for candidate in candidates)
    return next((file.absolute for file in found if file is not None), "")


def _argument(word: Word) -> tuple[str, str]:
    name, _, value = word.text.partition("=")
    return name, value
