"""Images that the project builds itself: what a Dockerfile's final stage holds and runs."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from dllint.deploy.commands import Script, commands_in
from dllint.deploy.dockerfiles import Copy, Stage, brings_packages, stage_called, stages
from dllint.deploy.published import published_as
from dllint.deploy.texts import DeployFile
from dllint.deploy.workload import Build, Flaw, FlawKind, SharedMemory, ShmSource, Workload
from dllint.files import Kind
from dllint.finding import Location
from dllint.syntax.dockerfile import Instruction, instructions
from dllint.syntax.mapped import Mapped

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_SHM = "/dev/shm"
_FSTAB = "/etc/fstab"
_MOST_STAGES = 40
_Place = Callable[[Instruction], Location]
_Tagged = dict[str, dict[str, "Image"]]
"""Images by their tags, and by the paths of the files that build them so."""


class Run(NamedTuple):
    """One RUN of an image."""

    text: str
    """The command as one line, without flags; the bodies of here-documents follow."""
    at: Location


class Image:
    """An image that is built from a Dockerfile: its final stage, or the one that is asked for."""

    def __init__(self, stage: Stage, every: list[Stage], file: DeployFile, at: _Place) -> None:
        self.file = file
        """The file that the Dockerfile's text stands in."""
        self.stage = stage
        self._every = every
        self._at = at

    def __eq__(self, other: object) -> bool:
        """Whether it is the same stage of the same Dockerfile, whatever arguments it is built with."""
        return isinstance(other, Image) and (self.at, self.file) == (other.at, other.file)

    def __hash__(self) -> int:
        return hash(self.at)

    @property
    def at(self) -> Location:
        """The FROM line of the final stage."""
        return self._at(self.stage.start)

    @property
    def base(self) -> str:
        """The image that it starts from in the end; what is not known of it stays as written, such as `${TAG}`."""
        return self.stage.base

    @property
    def workdir(self) -> str:
        """The folder that its command starts in; empty where it is not said."""
        return self.stage.workdir

    @property
    def labels(self) -> dict[str, str]:
        """Its labels."""
        return self.stage.labels

    @property
    def environment(self) -> dict[str, str]:
        """The variables that ENV and ARG set."""
        return self.stage.values

    @property
    def entrypoint(self) -> tuple[str, ...] | None:
        """The words of its ENTRYPOINT; None where it has none of its own."""
        return self.stage.entrypoint

    @property
    def arguments(self) -> tuple[str, ...] | None:
        """The words of its CMD; None where it has none of its own."""
        return self.stage.command

    @property
    def command(self) -> tuple[str, ...] | None:
        """What runs where nothing else is asked for: ENTRYPOINT and CMD; None where the base image decides."""
        if self.entrypoint is None:
            return self.arguments
        return self.entrypoint + (self.arguments or ())

    @cached_property
    def instructions(self) -> list[Instruction]:
        """The instructions of the final stage and of the stages that it builds on."""
        return [instruction for stage in self.stage.ancestry for instruction in stage.instructions]

    def run_at(self, word: str) -> Location:
        """Where the last CMD or ENTRYPOINT stands that has a word in it; else the FROM line."""
        running = (found for found in reversed(self.instructions) if found.keyword in ("CMD", "ENTRYPOINT"))
        return next((self._at(found) for found in running if word in found.rest), self.at)

    @cached_property
    def runs(self) -> list[Run]:
        """What RUN did to the image; of a stage that only its installed packages are copied from, too."""
        return [
            self._run(found) for stage in self._built_with for found in stage.instructions if found.keyword == "RUN"
        ]

    @cached_property
    def bases(self) -> list[str]:
        """The images that it is made of: its base, and those of the stages that its packages are copied from."""
        return list(dict.fromkeys(stage.base for stage in self._built_with))

    @property
    def _built_with(self) -> list[Stage]:
        found = list(self.stage.ancestry)
        for stage in found:
            for copy in stage.copies:
                origin = stage_called(copy.origin, self._every) if copy.origin and brings_packages(copy) else None
                found.extend(ancestor for ancestor in (origin.ancestry if origin else ()) if ancestor not in found)
        return found

    def _run(self, instruction: Instruction) -> Run:
        return Run("\n".join((instruction.rest, *(doc.text for doc in instruction.heredocs))), self._at(instruction))

    @cached_property
    def copies(self) -> list[Copy]:
        """What it holds of the build context, also by way of another stage."""
        return list(self._copied(self.stage, _MOST_STAGES))

    def _copied(self, stage: Stage, deepest: int) -> Iterator[Copy]:
        for copy in (copy for ancestor in stage.ancestry for copy in ancestor.copies):
            if not copy.origin:
                yield copy
            elif deepest and (origin := stage_called(copy.origin, self._every)) not in (None, stage):
                assert origin is not None
                yield from _moved(self._copied(origin, deepest // 2), copy)

    # Shared memory

    @cached_property
    def shm(self) -> SharedMemory:
        """What a container of it finds at /dev/shm where its launcher says nothing."""
        for instruction in self.instructions if _SHM in self.file.text else ():
            paths = [self.stage.expand(word).rstrip("/") for word in instruction.words]
            if instruction.keyword == "VOLUME" and _SHM in paths:
                return SharedMemory(ShmSource.DISK, at=self._at(instruction))
        return SharedMemory()

    @cached_property
    def flaws(self) -> list[Flaw]:
        """Instructions that try to change /dev/shm, and only change it while the image is built."""
        if _SHM not in self.file.text:
            return []
        found = ((instruction, _build_time_only(instruction, self.file)) for instruction in self.instructions)
        return [Flaw(FlawKind.NOT_EFFECTIVE, self._at(instruction), what) for instruction, what in found if what]


def _moved(copies: Iterable[Copy], by: Copy) -> Iterator[Copy]:
    """Copies into another stage, as they come to lie in this one."""
    folder = by.source.rstrip("/")
    for copy in copies:
        if copy.target == folder or folder in ("", "."):
            yield Copy(copy.source, by.target, by.instruction)
        elif copy.target.startswith(folder + "/"):
            yield Copy(copy.source, posixpath.join(by.target, copy.target[len(folder) + 1 :]), by.instruction)


def _build_time_only(instruction: Instruction, file: DeployFile) -> str:
    """Why an instruction that speaks of /dev/shm does nothing for the containers; empty where it does not."""
    texts = (instruction.text, *(doc.text for doc in instruction.heredocs))
    if not any(_SHM in text for text in texts):
        return ""
    if any(_FSTAB in text for text in texts):
        return "nothing reads `/etc/fstab` in a container"
    if instruction.keyword != "RUN":
        return ""
    if any(flag.startswith("--mount=") and "type=tmpfs" in flag and _SHM in flag for flag in instruction.flags):
        return "`RUN --mount=type=tmpfs` holds for this one build step"
    scripts = [" ".join(instruction.json) if instruction.json else instruction.rest, *texts[1:]]
    commands = [command for text in scripts for command in commands_in(Script(Mapped(text), ""), file)]
    if any(command.name == "mount" and any(_SHM in text for text in command.texts) for command in commands):
        return "a `mount` in `RUN` ends with the build step: containers get a /dev/shm of their own"
    return ""


# Which image it is


def built_for(workload: Workload, plan: Plan) -> Image | None:
    """The image that a workload runs, where the project builds it."""
    return plan.shared(Images).built_for(workload)


def words_of(workload: Workload, image: Image | None) -> tuple[str, ...]:
    """What runs in a container: its own words, and those of the image's ENTRYPOINT and CMD that they do not replace."""
    start = workload.start
    if image is None:
        return start.words
    if start.entrypoint is None:
        command = image.arguments if start.command is None else start.command
        return (*(image.entrypoint or ()), *(command or ()))
    if not start.words:
        # An empty entry point alone takes nothing but the image's away.
        return image.arguments or ()
    return start.words


def built_by_command(tag: str, plan: Plan, path: str = "") -> Image | None:
    """The image that a command of the project builds with this tag, of several that in the file at a path; workloads
    are not asked for."""
    return _look_up(tag, plan.shared(Images).by_command, path)


def bases_of(image: Image, plan: Plan) -> list[str]:
    """The images that an image is made of, and those that are made of which the project builds itself."""
    found = list(image.bases)
    for base in found:
        own = built_by_command(base, plan)
        found += [name for name in (own.bases if own is not None else ()) if name not in found]
    return found


def of_file(file: DeployFile, plan: Plan) -> Image | None:
    """The image that a Dockerfile gives, built without arguments; None where it has no FROM."""
    return plan.shared(Images).of_file(file)


class Images:
    """The images that a project builds."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._read: dict[tuple[str, str, tuple[tuple[str, str], ...]], Image | None] = {}
        self._published: dict[str, Image | None] = {}

    def of_file(self, file: DeployFile, build: Build | None = None) -> Image | None:
        """The image that a Dockerfile gives; None where it has no FROM, or not the stage that is asked for."""
        target, arguments = (build.target, build.arguments) if build else ("", ())
        key = (file.absolute, target, arguments)
        if key not in self._read:
            self._read[key] = _image(file.instructions, file, target, dict(arguments), lambda found: _span(file, found))
        return self._read[key]

    def of_build(self, build: Build, where: Location, file: DeployFile) -> Image | None:
        """The image of a build that a file speaks of; `where` stands for a Dockerfile written in that file."""
        if build.inline:
            return _image(instructions(build.inline), file, build.target, dict(build.arguments), lambda _: where)
        found = self._dockerfile(build)
        return self.of_file(found, build) if found is not None else None

    def _dockerfile(self, build: Build) -> DeployFile | None:
        path = os.path.join(build.context, build.dockerfile) if build.dockerfile else ""
        candidates = [path] if path else [os.path.join(build.context, name) for name in ("Dockerfile", "Containerfile")]
        found = (self._plan.file_at(path, build.context) for path in candidates)
        return next((file for file in found if file is not None), None)

    def built_for(self, workload: Workload) -> Image | None:
        """The image that a workload runs, where the project builds it."""
        file = self._by_path.get(workload.path)
        if workload.build is not None and file is not None:
            return self.of_build(workload.build, workload.at, file)
        if workload.image is None or not workload.image.value:
            return None
        tag = workload.image.value
        return _look_up(tag, self._tagged, workload.path) or self._published_as(tag)

    def _published_as(self, tag: str) -> Image | None:
        if tag not in self._published:
            self._published[tag] = published_as(tag, self.every, self._plan)
        return self._published[tag]

    @cached_property
    def by_command(self) -> _Tagged:
        """By tag: what the project's commands build."""
        from dllint.deploy.builds import builds

        found: _Tagged = {}
        for build in builds(self._plan):
            image = self.of_build(build.build, build.at, build.file)
            if image is None:
                continue
            for tag in build.tags:
                found.setdefault(_normal(tag), {})[build.file.path] = image
        return found

    @cached_property
    def _by_path(self) -> dict[str, DeployFile]:
        return {file.path: file for file in self._plan.files.values()}

    @cached_property
    def _tagged(self) -> _Tagged:
        """By tag: what commands build, and services that give what they build a name."""
        found = {tag: dict(built) for tag, built in self.by_command.items()}
        for workload in self._plan.workloads:
            if workload.build is None or workload.image is None or not workload.image.value:
                continue
            image = self.built_for(workload)
            if image is not None:
                found.setdefault(_normal(workload.image.value), {})[workload.path] = image
        return found

    @cached_property
    def every(self) -> list[Image]:
        """The images of all Dockerfiles of the project."""
        images = (self.of_file(file) for file in self._plan.of_kind(Kind.DOCKERFILE))
        return [image for image in images if image is not None]


def _image(
    found: list[Instruction], file: DeployFile, target: str, arguments: dict[str, str], at: _Place
) -> Image | None:
    every = stages(found, arguments)
    if not every:
        return None
    stage = stage_called(target, every) if target else every[-1]
    return Image(stage, every, file, at) if stage is not None else None


def _span(file: DeployFile, instruction: Instruction) -> Location:
    start = file.line_at(instruction.first)
    return file.at(start.row, start.column, instruction.last)


def _look_up(tag: str, tagged: _Tagged, path: str) -> Image | None:
    """The image with a tag, as the file at a path builds it, or else the last that does; else the only one with that
    name, for tags come out of variables."""
    if not tagged or not tag.strip("$"):
        return None
    built = tagged.get(_normal(tag))
    if built is not None:
        return built.get(path) or list(built.values())[-1]
    named = {image for other, built in tagged.items() if _name_of(other) == _name_of(tag) for image in built.values()}
    return named.pop() if len(named) == 1 else None


def is_same_tag(one: str, other: str) -> bool:
    """Whether two names of an image are the same to docker, tags that are not known aside."""
    return _normal(one) == _normal(other) or ("$" in one + other and _name_of(one) == _name_of(other))


def _normal(tag: str) -> str:
    """A tag as docker knows it, so that `x` and `docker.io/library/x:latest` are one."""
    for prefix in ("docker.io/", "index.docker.io/", "library/", "localhost/"):
        tag = tag.removeprefix(prefix)
    return tag if ":" in posixpath.basename(tag) or "@" in tag or "$" in tag else f"{tag}:latest"


def _name_of(tag: str) -> str:
    """The name of an image without its tag."""
    folder, _, last = _normal(tag).rpartition("/")
    return posixpath.join(folder, last.partition("@")[0].partition(":")[0])
