"""dstack: tasks and development environments. Nothing but `resources.shm_size` gives them more than 64 MB."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.deploy.launchers.kubernetes.values import is_known, setting
from dllint.deploy.sizes import GIB, MIB
from dllint.deploy.workload import Flaw, FlawKind, Launcher, Setting, SharedMemory, ShmSource, Start, Workload
from dllint.patterns import pattern
from dllint.syntax.tree import Tree

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan
    from dllint.deploy.texts import DeployFile

DSTACK = Launcher("dstack", "give it `resources: {shm_size: {size}}`", "{gib}GB")
_TYPES = ("task", "dev-environment")
_OWN = ("commands", "ide", "python", "image")
_SIZE = pattern(r"(\d{1,18}(?:\.\d*)?|\.\d+)(mb|gb|tb)?", re.ASCII)
_UNITS = {"mb": MIB, "gb": GIB, "tb": GIB << 10, None: GIB}
"""A number alone is in gigabytes."""


def find(file: DeployFile, plan: Plan) -> Iterator[Workload]:
    """The tasks of a file."""
    for tree in file.documents.trees:
        if tree.text_of("type") in _TYPES and any(key in tree for key in _OWN) and "apiVersion" not in tree:
            yield _workload(tree, file)


def size(text: str) -> int | None:
    """Bytes that dstack reads: `16GB`, `512 mb`, `8` (gigabytes); None where it refuses the text."""
    found = _SIZE.fullmatch(text.replace(" ", "").lower())
    return int(float(found[1]) * _UNITS[found[2]]) if found else None


def _workload(tree: Tree, file: DeployFile) -> Workload:
    resources, kind = tree.get("resources"), tree.get("type")
    anchor = resources if resources is not None else kind
    assert anchor is not None
    shm, flaws = _shared_memory(tree)
    commands = tree.get("commands")
    return Workload(
        DSTACK,
        file.path,
        anchor.key_at,
        name=tree.text_of("name"),
        folder=os.path.dirname(file.absolute),
        image=setting(tree.get("image"), lambda text: text or None),
        start=Start(("sh", "-c", "\n".join(commands.texts())) if commands is not None else None),
        workdir=tree.text_of("working_dir"),
        shm=shm,
        flaws=flaws,
        gpus=resources is not None and "gpu" in resources,
        environment=_environment(tree.get("env")),
    )


def _shared_memory(tree: Tree) -> tuple[SharedMemory, list[Flaw]]:
    given = tree.get("resources", "shm_size")
    volumes = tree.get("volumes")
    mounted = next((item for item in volumes.items() if _is_shm(item)), None) if volumes is not None else None
    if mounted is not None:
        return SharedMemory(ShmSource.HOST, at=mounted.at), []
    if given is None or given.is_null:
        return SharedMemory(), []
    text = given.text or ""
    if not is_known(text):
        return SharedMemory(ShmSource.UNKNOWN, Setting(None, given.at, text), given.at), []
    value = size(text)
    memory = SharedMemory(ShmSource.SIZE, Setting(value, given.at, text), given.at)
    if value is not None:
        return memory, []
    return memory, [Flaw(FlawKind.REFUSED, given.at, f"dstack refuses the size `{text}`: its units are MB, GB and TB")]


def _is_shm(volume: Tree) -> bool:
    """Whether a folder of the machine is mounted at /dev/shm: `/dev/shm:/dev/shm`, or the same as a mapping."""
    target = volume.text_of("path") or (volume.text or "").rpartition(":")[2]
    return target.rstrip("/") == "/dev/shm"


def _environment(tree: Tree | None) -> dict[str, str | None]:
    if tree is None:
        return {}
    if tree.is_mapping:
        return {key: value.text for key, value in tree.pairs()}
    pairs = [text.partition("=") for text in tree.texts()]
    return {name: value if equals else None for name, equals, value in pairs}
