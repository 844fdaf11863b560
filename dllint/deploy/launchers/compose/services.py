"""One compose service -> a workload."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.deploy.docker_options import least, mounts_filesystems, processors_in
from dllint.deploy.images import built_for
from dllint.deploy.launchers.compose.interpolation import Text, env_file
from dllint.deploy.launchers.compose.layers import Layer, Merged
from dllint.deploy.launchers.compose.mounts import mounts
from dllint.deploy.launchers.compose.projects import ComposeProject, extended
from dllint.deploy.launchers.compose.service_runs import runs_of
from dllint.deploy.launchers.compose.shm import shared_memory
from dllint.deploy.launchers.docker_run import image_flaws
from dllint.deploy.sizes import docker_bytes
from dllint.deploy.workload import Build, Launcher, Setting, SharedMemory, ShmSource, Start, Workload, words_in
from dllint.finding import Related
from dllint.patterns import pattern
from dllint.syntax.tree import Tree

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

COMPOSE = Launcher("compose", "give the service `shm_size: '{size}b'`")
SWARM = Launcher(
    "docker stack", "mount a tmpfs: `volumes: [{type: tmpfs, target: /dev/shm, tmpfs: {size: {size}}}]`", "{bytes}"
)
_REMOTE = pattern(r"(?:https?|git|ssh)://|git@|github\.com/")


def workload(project: ComposeProject, name: str, plan: Plan) -> Workload | None:
    """What a service runs; None for one that compose cannot start by itself, or that is there to be extended."""
    service, base = project.service(name), project.base(name)
    if service is None or base is None or (service.get("image") is None and service.get("build") is None):
        return None
    if name in project.template_names and service.get("command") is None and service.get("entrypoint") is None:
        return None
    found = shared_memory(service, project)
    mode, size = service.setting_of("ipc"), service.get("shm_size")
    is_host = found.shm.source is ShmSource.HOST and mode is not None and mode.value == "host"
    build = _build(service)
    start = Start(_words(service.get("entrypoint")), _words(service.get("command")))
    made = Workload(
        launcher=SWARM if project.is_swarm else COMPOSE,
        path=base.path,
        at=base.key_at,
        name=name,
        folder=_folder(service, project, build),
        image=_image(service),
        build=build,
        start=start,
        workdir=service.text_of("working_dir") or "",
        shm=found.shm,
        flaws=list(found.flaws),
        memory_limit=_memory_limit(service),
        cpu_limit=_cpu_limit(service),
        nofile=_nofile(service),
        host_ipc=mode.at if is_host and mode is not None else None,
        ignored_size=size.top.at if is_host and size is not None else None,
        privileged=_privileged(service),
        has_mounts=any(service.get(key) is not None for key in ("volumes", "volumes_from", "develop")),
        gpus=_has_gpus(service),
        environment=_environment(service, plan),
        is_environment_whole=service.get("env_file") is None,
        also_runs=runs_of(project, name, start, plan),
        related=tuple(_related(project, name)),
    )
    if made.shm.source is ShmSource.DEFAULT and not made.flaws:
        _ask_image(made, plan)
    return made


def _ask_image(made: Workload, plan: Plan) -> None:
    """What the image itself does about /dev/shm is told where its Dockerfile stands."""
    image = built_for(made, plan) if made.build is not None else None
    if image is not None and image.shm.source is not ShmSource.DEFAULT:
        made.shm = SharedMemory(ShmSource.UNKNOWN)
    made.flaws += image_flaws(made, plan)


def _image(service: Merged) -> Setting[str] | None:
    image = service.setting_of("image")
    if image is None or image.value is not None:
        return image
    name, _, tag = image.text.partition("$")[0].rpartition(":")
    return Setting(name, image.at, image.text) if name and not tag else image


def _build(service: Merged) -> Build | None:
    build = service.get("build")
    if build is None:
        return None
    context = _context(build)
    dockerfile = build.text_of("dockerfile")
    if context is None or dockerfile is None:
        return None
    return Build(
        context,
        os.path.normpath(os.path.join(context, dockerfile)) if dockerfile else "",
        build.text_of("target") or "",
        build.text_of("dockerfile_inline") or "",
        tuple((key, value) for key, value in _pairs(build.get("args")).items() if value is not None),
    )


def _context(build: Merged) -> str | None:
    """The folder that is built; None where it is not known, or lies on a server."""
    written = ((layer, layer.tree.get("context") if layer.tree.is_mapping else layer.tree) for layer in build.layers)
    layer, tree = next(((layer, tree) for layer, tree in written if tree is not None), (build.top, None))
    text, known = Layer(tree, layer.scope).value if tree is not None else Text(".")
    if not known or _REMOTE.match(text):
        return None
    return os.path.normpath(os.path.join(layer.scope.folder, text))


def _pairs(merged: Merged | None) -> dict[str, str | None]:
    """A mapping, or a list of `NAME=value`; None for a value that is not known."""
    found: dict[str, str | None] = {}
    for layer in reversed(merged.layers) if merged is not None else ():
        for key, value in layer.tree.pairs():
            text = Layer(value, layer.scope).value
            found[key] = text.text if text.known and not value.is_null else None
        for item in layer.tree.items():
            name, equals, _ = (item.text or "").partition("=")
            value_text = Layer(item, layer.scope).value
            found[name] = value_text.text.partition("=")[2] if equals and value_text.known else None
    return found


def _environment(service: Merged, plan: Plan) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    files = service.get("env_file")
    for layer in files.items() if files is not None else []:
        name = layer.text_of("path") if layer.tree.is_mapping else layer.value.text
        text = plan.read_aside(name, layer.scope.folder) if name else None
        found.update(env_file(text or "", layer.scope.variables))
    return found | _pairs(service.get("environment"))


# --- what it runs ---


def _words(merged: Merged | None) -> tuple[str, ...] | None:
    if merged is None:
        return None
    layer = merged.top
    if layer.tree.is_list:
        return tuple(_word(Layer(item, layer.scope).value.text) for item in layer.tree.items())
    return tuple(map(_word, words_in(layer.value.text)))


def _word(text: str) -> str:
    """A word; one that is nothing but an unknown variable cannot be known, in a shell's text it stays as it is."""
    return "" if re.fullmatch(r"\$(\w+|\{[^{}]*\})", text, re.ASCII) else text


def _folder(service: Merged, project: ComposeProject, build: Build | None) -> str:
    """The folder of the machine that the container's working folder most likely is."""
    workdir = service.text_of("working_dir")
    if workdir:
        for mount in reversed(list(mounts(service))):
            rest = posixpath.relpath(workdir, mount.target) if mount.target.startswith("/") else ".."
            if mount.kind == "bind" and mount.source and not rest.startswith(".."):
                return os.path.normpath(os.path.join(mount.source, rest))
    return build.context if build is not None else project.folder


# --- limits ---


def _memory_limit(service: Merged) -> Setting[int] | None:
    found = service.setting_of("deploy", "resources", "limits", "memory") or service.setting_of("mem_limit")
    return Setting(docker_bytes(found.value or ""), found.at, found.text) if found is not None else None


def _cpu_limit(service: Merged) -> Setting[float] | None:
    quota = service.setting_of("deploy", "resources", "limits", "cpus") or service.setting_of("cpus")
    cores = service.setting_of("cpuset")
    return least(
        Setting(_number(quota.value), quota.at, quota.text) if quota is not None else None,
        Setting(processors_in(cores.value or ""), cores.at, cores.text) if cores is not None else None,
    )


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 < number < 1e6 else None


def _nofile(service: Merged) -> Setting[int] | None:
    limits = service.get("ulimits", "nofile")
    if limits is None:
        return None
    found = limits.setting_of("soft") if limits.top.tree.is_mapping else limits.top.setting
    if found is None:
        return None
    value = found.value or ""
    return Setting(int(value) if re.fullmatch(r"\d{1,18}", value, re.ASCII) else None, found.at, found.text)


def _has_gpus(service: Merged) -> bool:
    if service.text_of("runtime") == "nvidia" or service.get("gpus") is not None:
        return True
    devices = service.get("deploy", "resources", "reservations", "devices")
    return devices is not None and any(_is_gpu(layer.tree) for layer in devices.items())


def _privileged(service: Merged) -> bool | None:
    flag, capabilities = service.text_of("privileged"), service.get("cap_add")
    added = [layer.value for layer in capabilities.items()] if capabilities is not None else []
    if flag is None or any(not value.known for value in added):
        return None
    return flag.lower() in ("true", "yes", "on") or mounts_filesystems(value.text for value in added)


def _is_gpu(device: Tree) -> bool:
    capabilities = device.get("capabilities")
    return capabilities is not None and any(text in ("gpu", "nvidia") for text in capabilities.texts())


def _related(project: ComposeProject, name: str) -> Iterator[Related]:
    """What it extends, and what is merged on top of it."""
    base = project.base(name)
    for path in project.files:
        for document in project.known[path]:
            tree = document.get("services", name)
            if tree is None:
                continue
            if base is not None and tree.node is not base.node:
                yield Related("this is merged on top", tree.key_at)
            parent = extended(Layer(tree, project.scope), path)
            found = [other.get("services", parent[1]) for other in project.known.get(parent[0], [])] if parent else []
            yield from (Related("it extends this service", other.key_at) for other in found if other is not None)
