"""What the options of `docker run` say about shared memory and limits; CI jobs and devcontainers take the same ones."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from dllint.deploy.commands import Word
from dllint.deploy.docker_cli import SDK, Invocation
from dllint.deploy.sizes import DEFAULT_SHM, docker_bytes, docker_sdk_bytes, is_share_of_memory, tmpfs_bytes
from dllint.deploy.workload import Flaw, FlawKind, Setting, SharedMemory, ShmSource, Workload
from dllint.finding import Location
from dllint.patterns import pattern
from dllint.records import dataclass, field

_SHM = "/dev/shm"
_DRIVE = pattern(r"[A-Za-z]:[\\/]")
NO_IPC = "none"
"""The IPC mode of docker and podman in which nothing is mounted at /dev/shm, whatever the size."""
_WITHOUT_CODE = pattern(r"/(?:tmp/\.X11-unix|etc|dev|var/run|run|sys|proc)\b|(?:~|\$HOME|\$\{HOME\})/\.")
"""Mounts of X11, of settings and sockets, and of hidden folders at home (`~/.cache`)."""
_OWN_IPC = frozenset({"", "private", "shareable"})
_CPUSET = pattern(r"\d{1,5}(?:-\d{1,5})?(?:,\d{1,5}(?:-\d{1,5})?)*")
_NOFILE = pattern(r"nofile=(-?\d{1,18})(?::-?\d+)?")


@dataclass(slots=True)
class Shm:
    """The shared memory that options give, and what is wrong with them."""

    memory: SharedMemory
    flaws: list[Flaw] = field(default_factory=list)
    host_ipc: Location | None = None
    ignored_size: Location | None = None


def apply(options: Invocation, workload: Workload) -> None:
    """Give a workload what the options say."""
    shm = shared_memory(options)
    workload.shm = shm.memory
    workload.flaws += shm.flaws
    workload.host_ipc, workload.ignored_size = shm.host_ipc, shm.ignored_size
    workload.memory_limit = _setting(options.last("memory"))
    workload.cpu_limit = least(_processors(options.last("cpus")), _cpuset(options.last("cpuset-cpus")))
    workload.nofile = next((found for word in reversed(options.values("ulimit")) if (found := _nofile(word))), None)
    workload.gpus = _has_gpus(options)
    workload.privileged = _privileged(options)
    workload.environment = dict(_variable(word) for word in options.values("env"))
    directory = options.last("workdir")
    workload.workdir = directory.text if directory is not None and directory.known else ""


def shared_memory(options: Invocation) -> Shm:
    """What stands at /dev/shm: a mount wins over the IPC mode, and that over a size."""
    size = options.last("shm-size")
    ipc = options.last("ipc")
    host = ipc.at if ipc is not None and ipc.text == "host" else None
    ignored = size.at if host is not None and size is not None else None
    mounted = list(_mounted(options))
    if mounted:
        return Shm(mounted[-1].memory, mounted[-1].flaws, host, ignored)
    if ipc is not None and (not ipc.known or ipc.text not in _OWN_IPC):
        return Shm(_of_ipc(ipc), host_ipc=host, ignored_size=ignored)
    if size is not None:
        return _of_size(size, options.program)
    swallowed = next((option for option in options.options if option.value and _is_size(option.value)), None)
    if swallowed is not None and swallowed.value is not None:
        what = f"`{swallowed.word.text}` takes `{swallowed.value.text}` as its value"
        flaw = Flaw(
            FlawKind.NOT_EFFECTIVE,
            swallowed.value.at,
            what,
            f"give `{swallowed.word.text}` its own value, or remove it",
        )
        return Shm(SharedMemory(), [flaw])
    unknown = any(_may_mount(word) for word in options.values("volume", "mount", "tmpfs"))
    source = ShmSource.UNKNOWN if options.has_unknown or unknown else ShmSource.DEFAULT
    return Shm(SharedMemory(source))


def _is_size(value: Word) -> bool:
    """Whether what an option takes as its value is the size that was meant for the container: `-v --shm-size=8g`."""
    return value.text.startswith("--shm-size")


def _of_ipc(ipc: Word) -> SharedMemory:
    if not ipc.known:
        return SharedMemory(ShmSource.UNKNOWN)
    if ipc.text == "host":
        return SharedMemory(ShmSource.HOST, at=ipc.at)
    if ipc.text == NO_IPC:
        return SharedMemory(ShmSource.SIZE, Setting(0, ipc.at, ipc.text), ipc.at)
    other = ipc.text.startswith("container:")
    return SharedMemory(ShmSource.OTHER_CONTAINER if other else ShmSource.UNKNOWN, at=ipc.at)


def _of_size(size: Word, program: str) -> Shm:
    if not size.known or not any(map(str.isdigit, size.text)):  # a page's `[SIZE]` stands for a number
        return Shm(SharedMemory(ShmSource.UNKNOWN, Setting(None, size.at, size.text), size.at))
    value = docker_sdk_bytes(size.text) if program == SDK else docker_bytes(size.text)
    if value == 0 and program.startswith("podman"):
        return Shm(SharedMemory(ShmSource.MEMORY, at=size.at))
    setting = Setting(DEFAULT_SHM if value == 0 else value, size.at, size.text)
    flaws = [] if value is not None else [_refused(size, f"{program} refuses the size `{size.text}`")]
    return Shm(SharedMemory(ShmSource.SIZE, setting, size.at), flaws)


def _refused(word: Word, what: str, instead: str = "") -> Flaw:
    return Flaw(FlawKind.REFUSED, word.at, what, instead)


# Mounts


def _mounted(options: Invocation) -> Iterator[Shm]:
    """What lies over /dev/shm, in the order of the options."""
    for option in options.options:
        if option.value is None:
            continue
        if option.name == "tmpfs":
            found = _of_tmpfs(option.value)
        elif option.name == "volume":
            found = _of_volume(option.value)
        else:
            found = _of_mount(option.value, options.program) if option.name == "mount" else None
        if found is not None:
            yield found


def _is_shm(path: str) -> bool:
    return posixpath.normpath(path) == _SHM


def _of_tmpfs(word: Word) -> Shm | None:
    path, _, rest = word.text.partition(":")
    if not _is_shm(path):
        return None
    start = len(path) + 1
    for option in rest.split(","):
        if option.startswith("size="):
            return _of_tmpfs_size(word, word.after(start + len("size=")), option[len("size=") :])
        start += len(option) + 1
    return Shm(SharedMemory(ShmSource.MEMORY if word.known else ShmSource.UNKNOWN, at=word.at))


def _of_tmpfs_size(word: Word, after: Word, text: str) -> Shm:
    if "$" in text:
        return Shm(SharedMemory(ShmSource.UNKNOWN))
    if is_share_of_memory(text):
        return Shm(SharedMemory(ShmSource.MEMORY, at=word.at))
    value = tmpfs_bytes(text)
    setting = Setting(value, after.at, text)
    flaws = []
    if value is None:
        what = f"the kernel refuses `size={text}` for a tmpfs: its units are k, m and g"
        flaws.append(_refused(after, what, "write it as in `--tmpfs /dev/shm:size=8g`"))
    return Shm(SharedMemory(ShmSource.MEMORY, setting, word.at), flaws)


def _of_volume(word: Word) -> Shm | None:
    drive = word.text[:2] if _DRIVE.match(word.text) else ""
    source, colon, rest = word.text[len(drive) :].partition(":")
    target = rest.partition(":")[0] if colon else source
    if not _is_shm(target):
        return None
    if not colon:
        return Shm(SharedMemory(ShmSource.DISK, at=word.at))
    return Shm(SharedMemory(_of_folder(source, word), at=word.at))


def _of_folder(path: str, word: Word) -> ShmSource:
    if "$" in path and not path.startswith(("/", "$PWD", "${PWD}", "$(pwd)", "`pwd`", "$HOME")):
        return ShmSource.UNKNOWN
    in_memory = any(path == folder or path.startswith(folder + "/") for folder in (_SHM, "/run"))
    return ShmSource.HOST if in_memory else ShmSource.DISK


def _of_mount(word: Word, program: str) -> Shm | None:
    fields = dict(_field(text) for text in word.text.split(","))
    target = next((fields[key] for key in ("target", "dst", "destination") if key in fields), "")
    if not _is_shm(target):
        return None
    kind = fields.get("type", "volume")
    if kind == "tmpfs":
        return _of_tmpfs_mount(word, fields, program)
    source = fields.get("source", fields.get("src", ""))
    return Shm(SharedMemory(_of_folder(source, word) if kind == "bind" else ShmSource.DISK, at=word.at))


def _field(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name.strip().lower(), value


def _of_tmpfs_mount(word: Word, fields: dict[str, str], program: str) -> Shm:
    text = fields.get("tmpfs-size")
    if text is None:
        return Shm(SharedMemory(ShmSource.MEMORY, at=word.at))
    after = word.after(word.text.index("tmpfs-size=") + len("tmpfs-size="))._replace(text=text)
    if "$" in text:
        return Shm(SharedMemory(ShmSource.UNKNOWN))
    value = docker_bytes(text)
    flaws = [] if value is not None else [_refused(after, f"{program} refuses `tmpfs-size={text}`")]
    return Shm(SharedMemory(ShmSource.MEMORY, Setting(value, after.at, text), word.at), flaws)


def may_mount_code(options: Invocation) -> bool:
    """Whether code of the project may be mounted: not where all mounts are sockets, caches and settings of the
    machine."""
    if options.has("mount") or options.has("volumes-from"):
        return True
    return any(not _WITHOUT_CODE.match(word.text) for word in options.values("volume"))


def _may_mount(word: Word) -> bool:
    """Whether a mount that is not known may lie over /dev/shm: `-v $MOUNT`, not `-v $DATA:/data`."""
    return not word.known and ":" not in word.text and "=" not in word.text


# Limits


def _setting(word: Word | None) -> Setting[int] | None:
    if word is None:
        return None
    return Setting(docker_bytes(word.text) or None if word.known else None, word.at, word.text)


def _processors(word: Word | None) -> Setting[float] | None:
    if word is None:
        return None
    try:
        value = float(word.text) if word.known else 0.0
    except ValueError:
        value = 0.0
    return Setting(value if 0 < value < 1e6 else None, word.at, word.text)


def _cpuset(word: Word | None) -> Setting[float] | None:
    return None if word is None else Setting(processors_in(word.text) if word.known else None, word.at, word.text)


def processors_in(text: str) -> float | None:
    """How many processors a set such as `0-3,8` holds; None for anything else."""
    if not _CPUSET.fullmatch(text):
        return None
    ends = [part.partition("-") for part in text.split(",")]
    return float(sum(max(int(last or first) - int(first) + 1, 0) for first, _, last in ends))


def least(*limits: Setting[float] | None) -> Setting[float] | None:
    """The tightest of several limits that hold at once."""
    given = [limit for limit in limits if limit is not None]
    return min(given, key=lambda limit: limit.value or float("inf"), default=None)


def _nofile(word: Word) -> Setting[int] | None:
    found = _NOFILE.fullmatch(word.text)
    # -1 is no limit at all.
    return Setting(int(found[1]), word.part(len("nofile=")), word.text) if found and int(found[1]) > 0 else None


def _has_gpus(options: Invocation) -> bool:
    devices = [word.text for word in options.values("device", "runtime")]
    return options.program == "nvidia-docker" or options.has("gpus") or any("nvidia" in text for text in devices)


def _privileged(options: Invocation) -> bool | None:
    flags = [option.value for option in options.options if option.name == "privileged"]
    added = options.values("cap-add")
    if options.has_unknown or any(word is not None and not word.known for word in (*flags, *added)):
        return None
    return any(word is None or word.text.lower() != "false" for word in flags) or mounts_filesystems(
        word.text for word in added
    )


def mounts_filesystems(capabilities: Iterable[str]) -> bool:
    """Whether one of these capabilities lets a container mount filesystems."""
    return any(name.upper().removeprefix("CAP_") in ("ALL", "SYS_ADMIN") for name in capabilities)


def _variable(word: Word) -> tuple[str, str | None]:
    name, equals, value = word.text.partition("=")
    return name, value if equals and word.known else None
