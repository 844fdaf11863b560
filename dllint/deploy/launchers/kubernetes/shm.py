"""What a container of a pod finds at /dev/shm: a volume that is mounted there, or the runtime's 64 MB."""

from __future__ import annotations

from dllint.deploy.launchers.kubernetes.pods import Container, Pod
from dllint.deploy.launchers.kubernetes.values import (
    has_unseen_keys,
    is_conditional,
    is_known,
    known_text,
    setting,
    whole,
)
from dllint.deploy.sizes import DEFAULT_SHM, quantity
from dllint.deploy.workload import Flaw, FlawKind, Setting, SharedMemory, ShmSource
from dllint.syntax.tree import Tree

_SHM = "/dev/shm"
_HOST_SHM = ("/dev/shm", "/run/shm")
_DISKS = (
    "persistentVolumeClaim",
    "ephemeral",
    "hostPath",
    "nfs",
    "gitRepo",
    "awsElasticBlockStore",
    "gcePersistentDisk",
    "azureDisk",
    "azureFile",
    "cephfs",
    "glusterfs",
    "iscsi",
    "rbd",
)
_CRIO = ("io.kubernetes.cri-o.ShmSize", "shm-size.crio.io")
_MEANT = ("shm", "sharedmem", "sharedmemory")
_MISREAD = "mun"
"""Suffixes of thousandths and less: a size in them is a slip for mebibytes."""

_UNKNOWN = SharedMemory(ShmSource.UNKNOWN)


def shared_memory(container: Container, pod: Pod) -> tuple[SharedMemory, list[Flaw]]:
    """What it finds at /dev/shm, and what is wrong with the settings that concern it."""
    mount = _mount(container)
    if mount is not None:
        own = container.tree.get("volumeMounts")
        is_certain = not is_conditional(mount) and not (own is not None and is_conditional(own))
        return _mounted(mount, pod) if is_certain else (_UNKNOWN, [])
    shared = _without_mount(container, pod)
    if shared.source is not ShmSource.DEFAULT:
        return shared, []
    volume = next((volume for volume in pod.volumes if _is_idle(volume, container, pod)), None)
    if volume is None:
        return shared, []
    what = f"the memory volume `{volume.text_of('name')}` is not mounted at {_SHM} in this container"
    return shared, [Flaw(FlawKind.NOT_EFFECTIVE, container.at, what, f"mount it at `{_SHM}` in this container")]


def mounts(container: Container) -> list[Tree]:
    """All mounts of a container."""
    own = container.tree.get("volumeMounts")
    return [*(own.items() if own is not None else ()), *container.mounts]


def _mount(container: Container) -> Tree | None:
    return next((mount for mount in mounts(container) if _path(mount) == _SHM), None)


def _path(mount: Tree) -> str:
    path = mount.text_of("mountPath")
    return path.rstrip("/") or path


def _without_mount(container: Container, pod: Pod) -> SharedMemory:
    if container.has_own_shm:
        return SharedMemory(ShmSource.PLATFORM)
    own = container.tree.get("volumeMounts")
    host = pod.spec.get("hostIPC") if pod.spec is not None else None
    if host is not None and not host.is_false and not host.is_null:
        is_certain = host.is_true and not is_conditional(host)
        return SharedMemory(ShmSource.HOST, at=host.key_at) if is_certain else _UNKNOWN
    if any(key.startswith(_CRIO) for notes in pod.annotations for key, _ in notes.pairs()):
        return SharedMemory(ShmSource.PLATFORM)
    if any(_remounts(other) for other in pod.containers if other.is_init):
        return _UNKNOWN
    if pod.is_uncertain or has_unseen_keys(container.tree) or any(has_unseen_keys(notes) for notes in pod.annotations):
        return _UNKNOWN
    if own is not None and (own.text or any(not is_known(_seen(mount)) for mount in own.items())):
        return _UNKNOWN
    return SharedMemory()


def _remounts(container: Container) -> bool:
    """Whether it sizes the /dev/shm that all containers of the pod share, as privileged init containers can."""
    parts = [part for key in ("command", "args") if (part := container.tree.get(key)) is not None]
    words = " ".join(text for part in parts for text in part.texts())
    return "mount" in words and _SHM in words


def _seen(mount: Tree) -> str:
    """The text of a mount that says where it goes; of an item that a template puts in, that template's."""
    return mount.text if mount.text is not None else mount.text_of("mountPath")


# --- a volume at /dev/shm ---


def _mounted(mount: Tree, pod: Pod) -> tuple[SharedMemory, list[Flaw]]:
    claim = mount.get("volumeClaimName") or mount.get("volumeClaim")
    if claim is not None:
        return SharedMemory(ShmSource.DISK, at=claim.key_at), []
    volume = _volume(mount.text_of("name"), pod)
    if volume is None or is_conditional(volume):
        return _UNKNOWN, []
    memory = volume.get("emptyDir")
    if memory is not None:
        return _empty_dir(memory)
    host = volume.text_of("hostPath", "path")
    if host.rstrip("/").startswith(_HOST_SHM):
        return SharedMemory(ShmSource.HOST, at=mount.at), []
    if "volumeMode" in volume or volume.get("spec", "accessModes") is not None:
        return SharedMemory(ShmSource.DISK, at=mount.at), []
    disk = next((found for kind in _DISKS if (found := volume.get(kind)) is not None), None)
    if disk is None or not is_known(host):
        return _UNKNOWN, []
    return SharedMemory(ShmSource.DISK, at=disk.key_at), []


def _volume(name: str, pod: Pod) -> Tree | None:
    for volume in pod.volumes:
        if name and name in (volume.text_of("name"), volume.text_of("metadata", "name")):
            return volume
    return None


def _empty_dir(memory: Tree) -> tuple[SharedMemory, list[Flaw]]:
    medium = memory.get("medium")
    if has_unseen_keys(memory) or memory.text or is_conditional(memory):
        return _UNKNOWN, []
    if medium is None or medium.text == "":
        return SharedMemory(ShmSource.DISK, at=medium.key_at if medium is not None else memory.key_at), []
    name = known_text(medium)
    if name is None or name.startswith("HugePages"):
        return _UNKNOWN, []
    if name != "Memory":
        what = f"`medium: {name}` is no storage medium, so that the pod does not start: it is spelled `Memory`"
        return _refused(medium, what, "medium: Memory")
    return _in_memory(memory.get("sizeLimit"), medium)


def _in_memory(size: Tree | None, medium: Tree) -> tuple[SharedMemory, list[Flaw]]:
    limit = setting(size, whole)
    if size is None or limit is None:
        return SharedMemory(ShmSource.MEMORY, at=medium.at), []
    text = known_text(size)
    value = quantity(text) if text is not None else None
    if text is None:
        return SharedMemory(ShmSource.MEMORY, limit, medium.at), []
    if value is None or value < 0:
        return _refused(size, f"`{text}` is no Kubernetes quantity, so that the API server refuses it", _spelled(text))
    if value == 0:
        return SharedMemory(ShmSource.MEMORY, at=medium.at), []
    if text.endswith(tuple(_MISREAD)):
        what = f"`{text}` means {float(value):g} bytes: in Kubernetes `{text[-1]}` is a part of one"
        return _refused(size, what, _spelled(text))
    return SharedMemory(ShmSource.MEMORY, limit, medium.at), []


def _refused(at: Tree, what: str, instead: str) -> tuple[SharedMemory, list[Flaw]]:
    given = SharedMemory(ShmSource.SIZE, Setting(None, at.at, at.text or ""), at.at)
    return given, [Flaw(FlawKind.REFUSED, at.at, what, instead)]


def _spelled(text: str) -> str:
    """A size that was spelled for another reader, in the spelling that Kubernetes reads; the size to advise where none
    can be told, or that one is no more than the default."""
    digits = text.strip(" +-").lower().rstrip("ib")
    if digits[:-1].strip().replace(".", "", 1).isdigit() and digits[-1] in "kmgtp":
        spelled = f"{digits[:-1].strip()}{digits[-1].upper()}i"
        if (quantity(spelled) or 0) > DEFAULT_SHM:
            return f"sizeLimit: {spelled}"
    return "sizeLimit: {size}"


# --- a memory volume that is elsewhere ---


def _is_idle(volume: Tree, container: Container, pod: Pod) -> bool:
    """Whether a volume was meant for /dev/shm, by its name or use, and this container does not have it there."""
    if volume.text_of("emptyDir", "medium") != "Memory" or is_conditional(volume):
        return False
    name = volume.text_of("name")
    if name.lower().replace("-", "").replace("_", "").endswith(_MEANT):
        return True
    places = [_path(mount) for other in pod.containers for mount in mounts(other) if mount.text_of("name") == name]
    return not places or any(f"{place}/".startswith(f"{_SHM}/") for place in places)
