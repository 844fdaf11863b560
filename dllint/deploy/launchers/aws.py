"""AWS: ECS task definitions and Batch job definitions, as JSON, YAML or CloudFormation resources."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.deploy.docker_options import mounts_filesystems
from dllint.deploy.launchers.kubernetes.containers import workload as pod_workload
from dllint.deploy.launchers.kubernetes.pods import pod_of
from dllint.deploy.launchers.kubernetes.values import known_text
from dllint.deploy.sizes import MIB
from dllint.deploy.workload import Flaw, FlawKind, Launcher, Setting, SharedMemory, ShmSource, Start, Workload
from dllint.finding import Location
from dllint.records import dataclass, replace
from dllint.syntax.tree import Tree

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan
    from dllint.deploy.texts import DeployFile

_ADVICE = 'give the container `"linuxParameters": {"sharedMemorySize": {size}}` (MiB)'
_FARGATE_ADVICE = f"run it on EC2 capacity, and {_ADVICE}"
ECS = Launcher("ECS", _ADVICE, "{mib}")
BATCH = Launcher("AWS Batch", _ADVICE, "{mib}")
_SHM = "/dev/shm"
_HOST_SHM = (_SHM, "/run/shm")


@dataclass(frozen=True, slots=True)
class _Job:
    """What holds for all containers of one definition."""

    tree: Tree
    """Where volumes and the limits of the whole task stand."""
    launcher: Launcher
    is_fargate: bool
    name: str = ""


def find(file: DeployFile, plan: Plan) -> Iterator[Workload]:
    """The containers of the task and job definitions in a file."""
    for document in file.documents.trees:
        for tree in document.walk():
            if tree.is_mapping:
                yield from of_definition(tree, file)


def of_definition(tree: Tree, file: DeployFile) -> Iterator[Workload]:
    """The containers of one definition; none where it is something else."""
    containers = _get(tree, "containerDefinitions")
    if containers is not None:
        job = _Job(tree, ECS, _is_fargate(tree, "requiresCompatibilities"))
        yield from (_workload(item, item.at, job, file) for item in containers.items() if _image(item) is not None)
    if any(_get(tree, key) is not None for key in _BATCH_KEYS):
        yield from _of_batch(tree, file)


_BATCH_KEYS = ("containerProperties", "nodeProperties", "ecsProperties", "eksProperties")


def _of_batch(tree: Tree, file: DeployFile) -> Iterator[Workload]:
    is_fargate = _is_fargate(tree, "platformCapabilities")
    name = _text(tree, "jobDefinitionName")
    for properties in _batch_properties(tree):
        for container in _batch_containers(properties):
            image = _image(container)
            if image is not None:
                job = _Job(container, BATCH, is_fargate, name)
                yield _workload(container, image.key_at, job, file)
        pod_properties = _get(properties, "eksProperties", "podProperties")
        if pod_properties is not None:
            pod = pod_of(pod_properties, ())
            found = (pod_workload(container, pod, file) for container in pod.containers)
            yield from (replace(w, launcher=w.launcher._replace(name=BATCH.name)) for w in found if w is not None)


def _batch_properties(tree: Tree) -> Iterator[Tree]:
    """A job definition itself, and what it says of the nodes of a multi-node job."""
    yield tree
    nodes = _get(tree, "nodeProperties", "nodeRangeProperties")
    if nodes is not None:
        yield from nodes.items()


def _batch_containers(properties: Tree) -> Iterator[Tree]:
    for key in ("containerProperties", "container"):
        container = _get(properties, key)
        if container is not None:
            yield container
    tasks = _get(properties, "ecsProperties", "taskProperties")
    for task in tasks.items() if tasks is not None else ():
        containers = _get(task, "containers")
        yield from containers.items() if containers is not None else ()


def _workload(container: Tree, start: Location, job: _Job, file: DeployFile) -> Workload:
    image = _image(container)
    assert image is not None
    launcher = job.launcher._replace(advice=_FARGATE_ADVICE) if job.is_fargate else job.launcher
    shm, flaws = _shared_memory(container, job)
    mode = _get(job.tree, "ipcMode")
    return Workload(
        launcher,
        file.path,
        replace(start, end_row=image.at.end_row, end_column=image.at.end_column),
        name=_text(container, "name") or job.name,
        folder=os.path.dirname(file.absolute),
        image=Setting(_known(image), image.at, image.text or ""),
        start=Start(_words(container, "entryPoint"), _words(container, "command")),
        workdir=_text(container, "workingDirectory"),
        shm=shm,
        flaws=flaws,
        memory_limit=_memory_limit(container, job),
        nofile=_nofile(container),
        host_ipc=mode.at if mode is not None and mode.text == "host" else None,
        privileged=_privileged(container),
        gpus=_requirement(container, "GPU") is not None,
        environment=_environment(container),
    )


def _privileged(container: Tree) -> bool | None:
    flag, added = _get(container, "privileged"), _get(container, "linuxParameters", "capabilities", "add")
    if flag is not None and not flag.is_true and not flag.is_false:
        return None
    return (flag is not None and flag.is_true) or mounts_filesystems(added.texts() if added is not None else ())


def _words(container: Tree, key: str) -> tuple[str, ...] | None:
    words = _get(container, key)
    return tuple(_known(word) or "" for word in (words.items() or [words])) if words is not None else None


def _environment(container: Tree) -> dict[str, str | None]:
    items = _get(container, "environment")
    variables = items.items() if items is not None else []
    return {_text(item, "name"): _known(value) for item in variables if (value := _get(item, "value")) is not None}


# --- shared memory ---


def _shared_memory(container: Tree, job: _Job) -> tuple[SharedMemory, list[Flaw]]:
    parameters = _get(container, "linuxParameters")
    size = _get(parameters, "sharedMemorySize") if parameters is not None else None
    if job.is_fargate and size is not None:
        flaw = Flaw(FlawKind.NOT_EFFECTIVE, size.at, "Fargate does not support `sharedMemorySize`")
        return SharedMemory(), [flaw]
    mounted = _mounted(container, job)
    if mounted is not None:
        return mounted, []
    if _is_unseen(parameters) or _is_unseen(_get(job.tree, "ipcMode")):
        return SharedMemory(ShmSource.UNKNOWN), []
    mode = _text(job.tree, "ipcMode")
    if mode == "host":
        return SharedMemory(ShmSource.HOST), []
    if mode == "task":
        return SharedMemory(ShmSource.OTHER_CONTAINER), []
    return _sized(size) if size is not None and not size.is_null else (SharedMemory(), [])


def _sized(size: Tree) -> tuple[SharedMemory, list[Flaw]]:
    if _is_unseen(size):
        return SharedMemory(ShmSource.UNKNOWN), []
    setting = _mib(size)
    what = f"`sharedMemorySize` is a whole number of MiB, not `{setting.text}`"
    flaws = [Flaw(FlawKind.REFUSED, size.at, what)] if setting.value is None else []
    return SharedMemory(ShmSource.SIZE, setting, size.at), flaws


def _mounted(container: Tree, job: _Job) -> SharedMemory | None:
    tmpfs = _get(container, "linuxParameters", "tmpfs")
    for item in tmpfs.items() if tmpfs is not None else ():
        if _text(item, "containerPath").rstrip("/") == _SHM:
            size = _get(item, "size")
            return SharedMemory(ShmSource.MEMORY, _mib(size) if size is not None else None, item.at)
    mounts = _get(container, "mountPoints")
    for item in mounts.items() if mounts is not None else ():
        if _text(item, "containerPath").rstrip("/") == _SHM:
            return SharedMemory(_of_volume(_text(item, "sourceVolume"), job), at=item.at)
    return None


def _of_volume(name: str, job: _Job) -> ShmSource:
    volumes = _get(job.tree, "volumes")
    for volume in volumes.items() if volumes is not None else ():
        if name and _text(volume, "name") == name:
            if _get(volume, "dockerVolumeConfiguration") is not None:
                return ShmSource.UNKNOWN
            path = _get(volume, "host", "sourcePath")
            if path is not None and _is_unseen(path):
                return ShmSource.UNKNOWN
            return ShmSource.HOST if path is not None and path.text in _HOST_SHM else ShmSource.DISK
    return ShmSource.UNKNOWN


# --- limits ---


def _memory_limit(container: Tree, job: _Job) -> Setting[int] | None:
    found = _get(container, "memory") or _requirement(container, "MEMORY") or _get(job.tree, "memory")
    return _mib(found) if found is not None else None


def _requirement(container: Tree, kind: str) -> Tree | None:
    requirements = _get(container, "resourceRequirements")
    items = requirements.items() if requirements is not None else []
    return next((_get(item, "value") for item in items if _text(item, "type").upper() == kind), None)


def _nofile(container: Tree) -> Setting[int] | None:
    limits = _get(container, "ulimits")
    for item in limits.items() if limits is not None else ():
        soft = _get(item, "softLimit")
        if _text(item, "name") == "nofile" and soft is not None:
            return Setting(_whole(_known(soft)), soft.at, soft.text or "")
    return None


# --- values ---


def _get(tree: Tree, *keys: str) -> Tree | None:
    """The value below these keys, as the API spells them or as CloudFormation does: with a capital."""
    found: Tree | None = tree
    for key in keys:
        found = (found.get(key) or found.get(key[0].upper() + key[1:])) if found is not None else None
    return found


def _text(tree: Tree, key: str) -> str:
    found = _get(tree, key)
    return (_known(found) or "") if found is not None else ""


def _known(tree: Tree) -> str | None:
    """The text of a scalar; None for one that a function of CloudFormation makes, or a variable."""
    return None if tree.tag.startswith("!") else known_text(tree)


def _is_unseen(tree: Tree | None) -> bool:
    """Whether something else than a known value stands there: a reference, a variable."""
    if tree is None or tree.is_null:
        return False
    return tree.tag.startswith("!") or (tree.text is not None and _known(tree) is None) or _is_function(tree)


def _is_function(tree: Tree) -> bool:
    return len(tree.pairs()) == 1 and tree.pairs()[0][0].startswith(("Ref", "Fn::"))


def _image(container: Tree) -> Tree | None:
    return _get(container, "image") if container.is_mapping else None


def _mib(tree: Tree) -> Setting[int]:
    number = _whole(_known(tree))
    return Setting(number * MIB if number is not None else None, tree.at, tree.text or "")


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 18 else None


def _is_fargate(tree: Tree, key: str) -> bool:
    """Whether it can run on Fargate alone."""
    found = _get(tree, key)
    return found is not None and [text.upper() for text in found.texts()] == ["FARGATE"]
