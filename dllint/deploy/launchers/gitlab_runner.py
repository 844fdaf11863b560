"""What the project says of its GitLab runner: the image and the shared memory of jobs that say nothing of these."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from dllint.deploy.sizes import DEFAULT_SHM
from dllint.deploy.workload import SharedMemory, ShmSource

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_RUNNERS = "[[runners]]"
_MOST_FILES = 200
_TOLD = ((b"docker-shm-size",), (b"DOCKER_SHM_SIZE",), (b"[[runners]]", b"shm"))
"""Words of commands that register a runner with a size, of its variables, and of a chart that holds its file."""
_TAKE_IMAGES = frozenset({"docker", "docker+machine", "docker-autoscaler", "docker-windows"})


class Runner(NamedTuple):
    """What jobs find where they say nothing themselves."""

    image: str = ""
    shm: SharedMemory = SharedMemory()


def runner_of(plan: Plan) -> Runner:
    """The runner that the project configures; one that gives the default where it configures none."""
    return plan.shared(_configured)


def _configured(plan: Plan) -> Runner:
    runners = [runner for text in _texts(plan) for runner in _runners(text)]
    images = {_of_docker(runner, "image") for runner in runners}
    image = str(images.pop()) if len(images) == 1 else ""
    if any(file.has(*words) for file in plan.files.values() for words in _TOLD):
        return Runner(image, SharedMemory(ShmSource.UNKNOWN))
    enough = [_gives_enough(runner) for runner in runners]
    if not any(enough):
        return Runner(image)
    # Which of several runners takes a job is told by tags.
    return Runner(image, SharedMemory(ShmSource.PLATFORM if all(enough) else ShmSource.UNKNOWN))


def _texts(plan: Plan) -> list[str]:
    found = (plan.read_aside(path, plan.root) or "" for path in plan.runners[:_MOST_FILES])
    return [text for text in found if _RUNNERS in text]


def _runners(text: str) -> list[dict[str, Any]]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        found = tomllib.loads(text).get("runners")
    except ValueError:  # no TOML, or a number of more digits than Python reads
        return []
    return [runner for runner in found if isinstance(runner, dict)] if isinstance(found, list) else []


def _of_docker(runner: dict[str, Any], key: str) -> Any:
    docker = runner.get("docker")
    known = isinstance(docker, dict) and runner.get("executor", "docker") in _TAKE_IMAGES
    return docker.get(key, "") if known and isinstance(docker, dict) else ""


def _gives_enough(runner: dict[str, Any]) -> bool:
    """Whether a runner gives its jobs more than the default, or the machine's own; a shell's has that by itself."""
    if runner.get("executor") in ("shell", "ssh"):
        return True
    size = _of_docker(runner, "shm_size")
    if (isinstance(size, int) and size > DEFAULT_SHM) or _of_docker(runner, "ipcmode") == "host":
        return True
    return "/dev/shm" in _mounted(runner)


def _mounted(runner: dict[str, Any]) -> list[str]:
    """The places in its containers that a runner mounts something at."""
    places = [str(place) for place in _of_docker(runner, "tmpfs")]
    places += [str(volume).split(":")[1] for volume in _of_docker(runner, "volumes") if ":" in str(volume)]
    kubernetes = runner.get("kubernetes")
    volumes = kubernetes.get("volumes", {}) if isinstance(kubernetes, dict) else {}
    found = volumes.get("empty_dir", []) if isinstance(volumes, dict) else []
    return places + [str(volume.get("mount_path")) for volume in found if isinstance(volume, dict)]
