"""`docker run` and `docker create`, also of podman, nvidia-docker and nerdctl, in all commands of the project."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.deploy.builds import builds, built_within
from dllint.deploy.commands import Command, Word, commands_of, may_start
from dllint.deploy.docker_cli import Invocation, run_options, subcommand
from dllint.deploy.docker_options import apply, may_mount_code
from dllint.deploy.texts import DeployFile
from dllint.deploy.workload import Flaw, FlawKind, Launcher, Setting, ShmSource, Start, Workload
from dllint.patterns import pattern

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_WHOLE_VARIABLE = pattern(r"\$\w+|\$[@*]|\$\{[^{}]*\}|\$\([^()]*\)|`[^`]*`|<[^<>]*>|\{\{.*\}\}", re.DOTALL)


def launcher(program: str) -> Launcher:
    """The one that a program is: `docker run`, `podman run`."""
    return Launcher(f"{program} run", "give it `--shm-size={size}` before the image")


def find(file: DeployFile, plan: Plan) -> Iterator[Workload]:
    """The containers that the commands in a file run."""
    for command in commands_of(file, plan) if may_start(file) else ():
        yield from workloads_of(command, plan)


def workloads_of(command: Command, plan: Plan) -> Iterator[Workload]:
    """The container that a command runs; none where it does something else."""
    found = subcommand(command)
    if found is not None and found[1] == "run":
        options = run_options(found[0], found[2])
        if options.rest:
            yield _workload(command, options, plan)


def _workload(command: Command, options: Invocation, plan: Plan) -> Workload:
    image = options.rest[0]
    name = options.last("name")
    workload = Workload(
        launcher(options.program),
        command.file.path,
        command.at,
        name.text if name is not None and name.known else "",
        command.folder,
        Setting(None if _WHOLE_VARIABLE.fullmatch(image.text) else image.text, image.at, image.text),
        start=start_of(options),
    )
    workload.build = built_within(image, command, plan)
    apply(options, workload)
    workload.is_environment_whole = not options.has_unknown and not options.values("env-file")
    workload.has_mounts = options.has_unknown or may_mount_code(options)
    if workload.shm.source is ShmSource.DEFAULT:
        workload.flaws += image_flaws(workload, plan)
    return workload


def start_of(options: Invocation) -> Start:
    """What the entry point and the words behind the image say."""
    words = tuple(_text(word) for word in options.rest[1:])
    entrypoint = options.last("entrypoint")
    given = None if entrypoint is None else (_text(entrypoint),) if entrypoint.text else ()
    return Start(given, words or None)


def _text(word: Word) -> str:
    return word.text if word.known or not _WHOLE_VARIABLE.fullmatch(word.text) else ""


def image_flaws(workload: Workload, plan: Plan) -> list[Flaw]:
    """What the build of its image does about /dev/shm to no effect: a size for the build, a mount in a RUN."""
    from dllint.deploy import images

    if workload.build is not None:
        built = images.built_for(workload, plan)
        return list(built.flaws) if built is not None else []
    tag = workload.image.value if workload.image is not None else None
    if not tag:
        return []
    sized = (build.shm_size for build in builds(plan) if any(images.is_same_tag(tag, own) for own in build.tags))
    what = "`--shm-size` of a build sizes /dev/shm of the build alone"
    flaws = [Flaw(FlawKind.NOT_EFFECTIVE, place, what) for place in sized if place is not None]
    image = images.built_by_command(tag, plan, workload.path)
    return flaws + (image.flaws if image is not None else [])
