"""Determined: experiments. The platform gives each task 4 GiB, unless `resources.shm_size` says otherwise."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.deploy.launchers.kubernetes.values import is_known, setting
from dllint.deploy.sizes import docker_bytes
from dllint.deploy.workload import Launcher, Setting, SharedMemory, ShmSource, Start, Workload
from dllint.syntax.tree import Tree

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan
    from dllint.deploy.texts import DeployFile

DETERMINED = Launcher("Determined", "set `resources: {shm_size: {size}}`, in bytes", "{bytes}")
_OWN = ("searcher", "hyperparameters", "min_validation_period", "max_restarts")
_TORCH = ("determined.launch.torch_distributed", "determined.launch.deepspeed")


def find(file: DeployFile, plan: Plan) -> Iterator[Workload]:
    """The experiment that a file configures."""
    for tree in file.documents.trees:
        entrypoint = tree.get("entrypoint")
        if entrypoint is not None and any(key in tree for key in _OWN) and "apiVersion" not in tree:
            yield _workload(tree, entrypoint, file)


def _workload(tree: Tree, entrypoint: Tree, file: DeployFile) -> Workload:
    words = (entrypoint.text,) if entrypoint.text is not None else tuple(entrypoint.texts())
    return Workload(
        DETERMINED,
        file.path,
        entrypoint.key_at,
        name=tree.text_of("name"),
        folder=os.path.dirname(file.absolute),
        image=_image(tree.get("environment", "image")),
        start=Start(words),
        shm=_shared_memory(tree.get("resources", "shm_size")),
        is_training=any(launcher in " ".join(words) for launcher in _TORCH),
    )


def _image(tree: Tree | None) -> Setting[str] | None:
    """The image, or that for GPUs where there is one for each kind of machine."""
    if tree is not None and tree.is_mapping:
        tree = tree.get("cuda") or tree.get("gpu") or tree.get("rocm")
    return setting(tree, lambda text: text or None)


def _shared_memory(tree: Tree | None) -> SharedMemory:
    if tree is None or tree.is_null:
        return SharedMemory(ShmSource.PLATFORM)
    text = tree.text or ""
    size = docker_bytes(text) if is_known(text) else None
    source = ShmSource.SIZE if size is not None else ShmSource.UNKNOWN
    return SharedMemory(source, Setting(size, tree.at, text), tree.at)
