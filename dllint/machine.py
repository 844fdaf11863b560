"""What the machine gives to a run, as far as the operating system tells it: nothing is imported or started."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata
from typing import Any

from dllint.records import dataclass

_NO_LIMIT = 1 << 60
"""Version 1 of cgroups writes a number near 2^63 where nothing is limited."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Budgets and versions; a number is None where the system does not tell it."""

    shm_total: int | None
    """Bytes of /dev/shm."""
    shm_free: int | None
    open_files: int | None
    """The soft limit of open files; None where there is none."""
    processors: int
    """Those that this process may use, as affinity and quota allow."""
    processors_in_machine: int
    memory_limit: int | None
    """Bytes that this process's group may use; None where only the machine's memory limits it."""
    memory_free: int | None
    """Bytes that are free within that limit and in the machine."""
    python: tuple[int, int, int]
    torch: str
    """The installed version; empty where torch is not installed."""
    start_method: str
    """The default start method of worker processes here."""
    container: bool
    tokenizers_parallelism: str
    """The variable TOKENIZERS_PARALLELISM; empty where it is not set."""
    opencv: str
    """The installed version of OpenCV; empty where it is not installed."""

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {name: getattr(self, name) for name in self.__match_args__}


class Files:
    """The files of the machine, below a root that tests may move."""

    def __init__(self, root: str = "/") -> None:
        self.root = root

    def path(self, path: str) -> str:
        """The real path of a file of the machine."""
        return os.path.join(self.root, path.lstrip("/"))

    def text(self, path: str) -> str:
        """The content of a small file; empty where it cannot be read."""
        try:
            with open(self.path(path), encoding="utf-8", errors="replace") as stream:
                return stream.read()
        except OSError:
            return ""

    def number(self, path: str) -> int | None:
        """The number in a file; None where there is none, or the word `max`."""
        text = self.text(path).strip()
        return int(text) if text.isdigit() else None


def look(files: Files | None = None) -> Machine:
    """What this machine gives."""
    files = files or Files()
    total, free = _shm(files)
    limit = _memory_limit(files)
    return Machine(
        shm_total=total,
        shm_free=free,
        open_files=_open_files(),
        processors=_processors(files),
        processors_in_machine=os.cpu_count() or 1,
        memory_limit=limit,
        memory_free=_memory_free(files, limit),
        python=(sys.version_info.major, sys.version_info.minor, sys.version_info.micro),
        torch=_installed("torch"),
        start_method=default_start_method(sys.platform, sys.version_info[:2]),
        container=_is_container(files),
        tokenizers_parallelism=os.environ.get("TOKENIZERS_PARALLELISM", ""),
        opencv=_installed("opencv-python", "opencv-python-headless", "opencv-contrib-python"),
    )


def default_start_method(platform: str, python: tuple[int, ...]) -> str:
    """How multiprocessing starts processes where nobody says: docs.python.org, "Contexts and start methods"."""
    if platform != "linux":
        return "spawn"
    return "forkserver" if python >= (3, 14) else "fork"


def _shm(files: Files) -> tuple[int | None, int | None]:
    try:
        found = os.statvfs(files.path("/dev/shm"))
    except (OSError, AttributeError):
        return None, None
    return found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize


def _open_files() -> int | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def _installed(*names: str) -> str:
    return next(filter(None, map(_version, names)), "")


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _is_container(files: Files) -> bool:
    marks = ("/.dockerenv", "/run/.containerenv")
    if any(os.path.exists(files.path(mark)) for mark in marks) or os.environ.get("KUBERNETES_SERVICE_HOST"):
        return True
    return any(word in files.text("/proc/1/cgroup") for word in ("docker", "kubepods", "containerd", "libpod"))


# Control groups


def _groups(files: Files, controller: str) -> Iterable[str]:
    """The folders of this process's group and of those above it, for one controller, from the innermost out."""
    for line in files.text("/proc/self/cgroup").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            base = "/sys/fs/cgroup"
        elif controller in controllers.split(","):
            base = f"/sys/fs/cgroup/{controller}"
        else:
            continue
        while True:
            yield base + path.rstrip("/")
            if path in ("", "/"):
                break
            path = os.path.dirname(path)


def _processors(files: Files) -> int:
    try:
        usable = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS, Windows
        usable = os.cpu_count() or 1
    quotas = [quota for group in _groups(files, "cpu") if (quota := _quota(files, group)) is not None]
    return max(1, min([usable, *(int(quota + 0.5) or 1 for quota in quotas)]))


def _quota(files: Files, group: str) -> float | None:
    words = files.text(f"{group}/cpu.max").split()
    if len(words) == 2 and words[0].isdigit() and int(words[1]):
        return int(words[0]) / int(words[1])
    quota, period = files.number(f"{group}/cpu.cfs_quota_us"), files.number(f"{group}/cpu.cfs_period_us")
    return quota / period if quota and period else None


def _memory_limit(files: Files) -> int | None:
    return _least(files, "memory.max", "memory.limit_in_bytes")


def _least(files: Files, *names: str) -> int | None:
    numbers = (files.number(f"{group}/{name}") for group in _groups(files, "memory") for name in names)
    return min((number for number in numbers if number is not None and number < _NO_LIMIT), default=None)


def _memory_free(files: Files, limit: int | None) -> int | None:
    machine = next(
        (
            int(line.split()[1]) * 1024
            for line in files.text("/proc/meminfo").splitlines()
            if line.startswith("MemAvail")
        ),
        None,
    )
    if limit is None:
        return machine
    used = next(_numbers(files, "memory.current", "memory.usage_in_bytes"), 0)
    inside = max(0, limit - used)
    return inside if machine is None else min(inside, machine)


def _numbers(files: Files, *names: str) -> Iterator[int]:
    for group in _groups(files, "memory"):
        for name in names:
            number = files.number(f"{group}/{name}")
            if number is not None:
                yield number
