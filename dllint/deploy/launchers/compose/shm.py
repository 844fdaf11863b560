"""What a compose service finds at /dev/shm, and which of its settings do not do what they seem to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dllint.deploy.launchers.compose.layers import Layer, Merged
from dllint.deploy.launchers.compose.mounts import Mount, is_unknown, mounts
from dllint.deploy.launchers.compose.projects import ComposeProject
from dllint.deploy.sizes import DEFAULT_SHM, docker_bytes, is_share_of_memory, tmpfs_bytes
from dllint.deploy.workload import Flaw, FlawKind, Setting, SharedMemory, ShmSource
from dllint.patterns import pattern
from dllint.records import dataclass

_FLOAT = pattern(r"[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?", re.ASCII)
_INTEGER = pattern(r"[-+]?(0[xX][0-9a-fA-F_]+|0[oO]?[0-7_]+|0[bB][01_]+|[1-9][\d_]*|0)", re.ASCII)
_IN_MEMORY = ("/dev/shm", "/run")
"""Folders of a machine that are in memory."""
_MISPLACED = ((), ("resources",), ("resources", "limits"), ("resources", "reservations"))
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Found:
    """The shared memory of a service, and the flaws of its settings."""

    shm: SharedMemory
    flaws: tuple[Flaw, ...] = ()


_DEFAULT = Found(SharedMemory())
_UNKNOWN = Found(SharedMemory(ShmSource.UNKNOWN))


def shared_memory(service: Merged, project: ComposeProject, depth: int = 0) -> Found:
    """What stands at /dev/shm: a mount wins over the IPC mode, and that over a size."""
    mount = next((m for m in reversed(list(mounts(service))) if m.target == "/dev/shm"), None)
    if mount is not None:
        return _of_mount(mount, project)
    found = _of_ipc(service, project, depth) or _of_size(service, project)
    if found.shm.source is not ShmSource.DEFAULT or found.flaws:
        return found
    if is_unknown(service) or project.is_open:
        return _UNKNOWN
    return Found(found.shm, tuple(_flaws(service)))


# --- mounts ---


def _of_mount(mount: Mount, project: ComposeProject) -> Found:
    if mount.kind == "tmpfs":
        return _of_tmpfs(mount)
    if mount.source is None or mount.kind not in ("bind", "volume"):
        return _UNKNOWN
    if mount.kind == "bind":
        return Found(SharedMemory(_of_folder(mount.source), at=mount.at))
    return _of_volume(mount, project)


def _of_folder(path: str) -> ShmSource:
    in_memory = any(path == folder or path.startswith(folder + "/") for folder in _IN_MEMORY)
    return ShmSource.HOST if in_memory else ShmSource.DISK


def _of_volume(mount: Mount, project: ComposeProject) -> Found:
    volume = project.volume(mount.source) if mount.source else None
    if volume is None:
        return Found(SharedMemory(ShmSource.DISK, at=mount.at))
    options = volume.get("driver_opts")
    if volume.text_of("driver") not in ("", "local") or volume.get("external") is not None:
        return _UNKNOWN
    kind = options.text_of("type") if options is not None else ""
    device = options.text_of("device") if options is not None else ""
    if options is None or (kind not in ("tmpfs", None) and device is not None):
        return Found(SharedMemory(_of_folder(device or ""), at=mount.at))
    if kind is None or device is None:
        return _UNKNOWN
    written = options.get("o")
    return _of_options(written.top, written.top.value.text.split(",")) if written is not None else _memory(mount)


def _of_tmpfs(mount: Mount) -> Found:
    if mount.size is not None:
        size = _size(mount.size)
        return Found(SharedMemory(ShmSource.MEMORY, size, mount.at), tuple(_refusals(size, mount.size)))
    return _of_options(mount.layer, mount.options)


def _of_options(layer: Layer, options: tuple[str, ...] | list[str]) -> Found:
    sizes = [option.removeprefix("size=") for option in options if option.startswith("size=")]
    if not sizes or is_share_of_memory(sizes[-1]):
        return Found(SharedMemory(ShmSource.MEMORY, at=layer.at))
    if "$" in sizes[-1]:
        return _UNKNOWN
    size = Setting(tmpfs_bytes(sizes[-1]), layer.at, sizes[-1])
    what = f"the kernel refuses `size={sizes[-1]}` for a tmpfs: its units are k, m and g"
    flaws = (
        (Flaw(FlawKind.REFUSED, layer.at, what, "write the unit as one letter, such as `size=8g`"),)
        if size.value is None
        else ()
    )
    return Found(SharedMemory(ShmSource.MEMORY, size, layer.at), flaws)


def _memory(mount: Mount) -> Found:
    return Found(SharedMemory(ShmSource.MEMORY, at=mount.at))


# --- the IPC mode ---


def _of_ipc(service: Merged, project: ComposeProject, depth: int) -> Found | None:
    """What the IPC mode decides; None where the service has a memory of its own."""
    mode = service.setting_of("ipc")
    if mode is None or mode.value in ("", "private", "shareable"):
        return None
    if mode.value == "host":
        return _host(mode, project)
    if mode.value is None or mode.value == "none":
        return _UNKNOWN
    kind, _, name = mode.value.partition(":")
    other = project.service(name) if kind == "service" and depth < _DEEPEST else None
    if other is not None and shared_memory(other, project, depth + 1).shm.source is ShmSource.DEFAULT:
        return _DEFAULT
    return Found(SharedMemory(ShmSource.OTHER_CONTAINER, at=mode.at))


def _host(mode: Setting[str], project: ComposeProject) -> Found:
    if project.is_swarm:
        return Found(SharedMemory(), (Flaw(FlawKind.NOT_EFFECTIVE, mode.at, "`docker stack deploy` ignores `ipc`"),))
    return Found(SharedMemory(ShmSource.HOST, at=mode.at))


# --- sizes ---


def _of_size(service: Merged, project: ComposeProject) -> Found:
    written = service.get("shm_size")
    if written is None:
        return _DEFAULT
    layer = written.top
    if project.is_swarm:
        flaw = Flaw(FlawKind.NOT_EFFECTIVE, layer.at, "`docker stack deploy` ignores `shm_size`")
        return Found(SharedMemory(), (flaw,))
    if not layer.value.known:
        return _UNKNOWN
    size = _size(layer)
    return Found(SharedMemory(ShmSource.SIZE, size, layer.at), tuple(_refusals(size, layer)))


def _size(layer: Layer) -> Setting[int]:
    """A size that compose reads; its value is None where it is refused, or not known."""
    written = layer.tree.text
    text, known = layer.value
    if written is None or not known or (written == text and is_float(layer)):
        return Setting(None, layer.at, written or "")
    size = docker_bytes(_as_integer(text) if written == text and layer.tree.is_plain else text)
    return Setting(DEFAULT_SHM if size == 0 else size, layer.at, written)


def _as_integer(text: str) -> str:
    if _INTEGER.fullmatch(text) is None:
        return text
    digits = text.replace("_", "")
    octal = re.fullmatch(r"([-+]?)0([0-7]+)", digits)
    try:
        return str(int(f"{octal[1]}0o{octal[2]}" if octal else digits, 0))
    except ValueError:
        return text


def is_float(layer: Layer) -> bool:
    """Whether compose's YAML reads a value as a floating-point number: as a size it is dropped."""
    written = layer.tree.text or ""
    return layer.tree.is_plain and bool(_FLOAT.fullmatch(written)) and not _INTEGER.fullmatch(written)


def _refusals(size: Setting[int], layer: Layer) -> Iterator[Flaw]:
    if size.value is not None or not layer.value.known:
        return
    if is_float(layer):
        what = f"compose takes a number without quotes as bytes, and drops `{size.text}` because it is no integer"
    elif layer.tree.text is None:
        what = "compose refuses a list or a mapping as a size"
    else:
        what = f"compose refuses the size `{layer.value.text}`"
    yield Flaw(FlawKind.REFUSED, layer.at, what)


# --- settings without effect ---


def _flaws(service: Merged) -> Iterator[Flaw]:
    build = service.get("build", "shm_size")
    if build is not None:
        yield Flaw(FlawKind.NOT_EFFECTIVE, build.top.at, "`build.shm_size` sizes /dev/shm of the build alone")
    for keys in _MISPLACED:
        misplaced = service.get("deploy", *keys, "shm_size")
        if misplaced is not None:
            what = "compose knows no `shm_size` below `deploy`: it is a key of the service itself"
            yield Flaw(FlawKind.NOT_EFFECTIVE, misplaced.top.at, what)
