"""Nomad jobs in HCL: tasks of the docker and podman drivers."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.deploy.sizes import DEFAULT_SHM, MIB, docker_bytes
from dllint.deploy.workload import Flaw, FlawKind, Launcher, Setting, SharedMemory, ShmSource, Start, Workload
from dllint.finding import Location
from dllint.patterns import pattern
from dllint.records import replace
from dllint.syntax.hcl import Block, Body, Value, parse

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan
    from dllint.deploy.texts import DeployFile

NOMAD = Launcher("Nomad", "set `shm_size = {size}` (bytes) in the task's `config`", "{bytes}")
_VARIABLE = pattern(r"(?:\"\$\{)?var\.(\w+)(?:\}\")?")
_SHM = "/dev/shm"
_Variables = dict[str, Value]


class _Task(NamedTuple):
    block: Block
    config: Body
    variables: _Variables

    def value(self, name: str) -> Value | None:
        """A value of the task's configuration; a variable is its default."""
        return self.resolved(self.config.attributes.get(name))

    def resolved(self, value: Value | None) -> Value | None:
        """A value; of a variable its default, at the place where it is used."""
        found = _VARIABLE.fullmatch(value.source) if value is not None else None
        default = self.variables.get(found[1]) if found else None
        if value is None or default is None:
            return value
        return Value(value.at, default.text, default.items, default.pairs, value.source)

    def text(self, name: str) -> str | None:
        """The text of a value of its configuration."""
        value = self.value(name)
        return value.text if value is not None else None


def find(file: DeployFile, plan: Plan) -> Iterator[Workload]:
    """The tasks of a file's jobs that run in a container."""
    root = parse(file.text, file.path)
    defaults = {b.labels[0]: b.body.attributes.get("default") for b in root.of("variable") if b.labels}
    variables = {name: value for name, value in defaults.items() if value is not None}
    for job in root.of("job"):
        for group in (job, *job.body.of("group")):
            for block in group.body.of("task"):
                config = next(block.body.of("config"), None)
                if block.body.text("driver") in ("docker", "podman") and config is not None:
                    yield _workload(_Task(block, config.body, variables), file)


def _workload(task: _Task, file: DeployFile) -> Workload:
    image = task.value("image")
    shm, flaws = _shared_memory(task)
    mode = task.value("ipc_mode")
    is_host = mode is not None and mode.text == "host"
    return Workload(
        NOMAD,
        file.path,
        _head(task.block.at, image),
        name=" ".join(task.block.labels[:1]),
        folder=os.path.dirname(file.absolute),
        image=Setting(image.text, image.at, image.source) if image is not None else None,
        start=Start(_words(task, "entrypoint"), _words(task, "command", "args")),
        workdir=task.text("work_dir") or "",
        shm=shm,
        flaws=flaws,
        memory_limit=_memory_limit(task.block.body),
        nofile=_nofile(task),
        host_ipc=mode.at if is_host and mode is not None else None,
        ignored_size=task.config.attributes["shm_size"].at
        if is_host and "shm_size" in task.config.attributes
        else None,
        gpus=any("gpu" in " ".join(b.labels) for r in task.block.body.of("resources") for b in r.body.of("device")),
        environment=_environment(task),
    )


def _head(start: Location, image: Value | None) -> Location:
    """The task, down to its image."""
    return replace(start, end_row=image.at.end_row, end_column=image.at.end_column) if image is not None else start


def _words(task: _Task, *names: str) -> tuple[str, ...] | None:
    words: list[str] = []
    for name in names:
        value = task.value(name)
        if value is not None:
            words += [item.text or "" for item in (value.items if value.items is not None else (value,))]
    return tuple(words) or None


def _environment(task: _Task) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for block in task.block.body.of("env"):
        found |= {name: value.text for name, value in block.body.attributes.items()}
    pairs = task.block.body.attributes.get("env")
    return found | {name: value.text for name, value in ((pairs.pairs if pairs else None) or {}).items()}


# --- shared memory ---


def _shared_memory(task: _Task) -> tuple[SharedMemory, list[Flaw]]:
    mounted = _mounted(task)
    if mounted is not None:
        return mounted, []
    mode = task.value("ipc_mode")
    if mode is not None and mode.text not in ("", "private", "shareable"):
        if mode.text == "host":
            return SharedMemory(ShmSource.HOST, at=mode.at), []
        is_other = mode.text is not None and mode.text.startswith("container:")
        return SharedMemory(ShmSource.OTHER_CONTAINER if is_other else ShmSource.UNKNOWN), []
    size = task.value("shm_size")
    if size is None:
        return SharedMemory(), []
    if size.text is None:
        return SharedMemory(ShmSource.UNKNOWN), []
    return _sized(size, is_docker=task.block.body.text("driver") == "docker")


def _sized(size: Value, *, is_docker: bool) -> tuple[SharedMemory, list[Flaw]]:
    """Docker's driver takes a number of bytes, podman's a size with a unit."""
    text = size.text or ""
    number = (int(text) if re.fullmatch(r"\d{1,18}", text, re.ASCII) else None) if is_docker else docker_bytes(text)
    setting = Setting(DEFAULT_SHM if number == 0 and is_docker else number, size.at, size.source)
    flaw = Flaw(FlawKind.REFUSED, size.at, f"`shm_size` is a whole number of bytes, not {size.source}")
    return SharedMemory(ShmSource.SIZE, setting, size.at), [flaw] if number is None else []


def _mounted(task: _Task) -> SharedMemory | None:
    """What is mounted at /dev/shm by `mount`, `mounts`, `volumes` or `tmpfs`."""
    for mount, at in _mounts(task):
        if _is_shm(mount.text("target")):
            return _of_mount(mount, at)
    for name in ("volumes", "tmpfs"):
        value = task.value(name)
        for item in (value.items if value is not None else None) or ():
            source, _, rest = (item.text or "").partition(":")
            if name == "volumes" and _is_shm(rest.partition(":")[0]):
                return SharedMemory(ShmSource.HOST if source == _SHM else ShmSource.DISK, at=item.at)
            if name == "tmpfs" and _is_shm(source):
                return SharedMemory(ShmSource.UNKNOWN if "size=" in rest else ShmSource.MEMORY, at=item.at)
    return None


def _mounts(task: _Task) -> Iterator[tuple[Body, Location]]:
    yield from ((block.body, block.at) for block in task.config.of("mount"))
    for name in ("mount", "mounts"):
        value = task.value(name)
        for item in (value.items or (value,)) if value is not None else ():
            blocks = [
                Block(key, (), v.at, Body(v.pairs)) for key, v in (item.pairs or {}).items() if v.pairs is not None
            ]
            yield Body(item.pairs or {}, blocks), item.at


def _of_mount(mount: Body, at: Location) -> SharedMemory:
    if mount.text("type") == "tmpfs":
        options = next(mount.of("tmpfs_options"), None)
        size = options.body.attributes.get("size") if options is not None else None
        if size is None:
            return SharedMemory(ShmSource.MEMORY, at=at)
        number = int(size.text) if size.text is not None and re.fullmatch(r"\d{1,18}", size.text) else None
        source = ShmSource.MEMORY if number is not None else ShmSource.UNKNOWN
        return SharedMemory(source, Setting(number, size.at, size.source), at)
    if "source" in mount.attributes and mount.text("source") is None:
        return SharedMemory(ShmSource.UNKNOWN, at=at)
    is_host = mount.text("type") == "bind" and _is_shm(mount.text("source"))
    return SharedMemory(ShmSource.HOST if is_host else ShmSource.DISK, at=at)


def _is_shm(path: str | None) -> bool:
    return bool(path) and posixpath.normpath(path or "") == _SHM


# --- limits ---


def _memory_limit(task: Body) -> Setting[int] | None:
    """MiB; with `memory_max`, that is the limit."""
    for resources in task.of("resources"):
        value = resources.body.attributes.get("memory_max") or resources.body.attributes.get("memory")
        if value is not None:
            is_number = value.text is not None and re.fullmatch(r"\d{1,12}", value.text, re.ASCII)
            return Setting(int(value.text or 0) * MIB if is_number else None, value.at, value.source)
    return None


def _nofile(task: _Task) -> Setting[int] | None:
    limits = task.value("ulimit")
    pairs = limits.pairs if limits is not None else None
    body = Body(pairs) if pairs is not None else next((block.body for block in task.config.of("ulimit")), None)
    value = body.attributes.get("nofile") if body is not None else None
    if value is None:
        return None
    soft = (value.text or "").partition(":")[0]
    return Setting(int(soft) if re.fullmatch(r"\d{1,18}", soft, re.ASCII) else None, value.at, value.source)
