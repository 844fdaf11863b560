"""Ray's cluster launcher: the container that it starts on each machine.

The launcher adds `--shm-size` by itself, unless an option holds one or `disable_shm_size_detection` is set
(`_auto_configure_shm` in python/ray/autoscaler/_private/command_runner.py).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from yaml.nodes import ScalarNode

from dllint.deploy.ci import scalar
from dllint.deploy.commands import Script, Word, commands_in
from dllint.deploy.docker_cli import run_options
from dllint.deploy.docker_options import apply
from dllint.deploy.workload import Launcher, Setting, SharedMemory, ShmSource, Workload
from dllint.syntax.tree import Tree

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan
    from dllint.deploy.texts import DeployFile

RAY = Launcher("Ray's cluster launcher", "add `--shm-size={size}` to `docker.run_options`")
_OWN = ("cluster_name", "available_node_types", "head_start_ray_commands", "head_node_type")
_NODES = {"image": "", "head_image": "head_run_options", "worker_image": "worker_run_options"}
"""Where an image is named -> the options that its nodes have beyond the common ones."""


def find(file: DeployFile, plan: Plan) -> Iterator[Workload]:
    """The containers of a cluster."""
    for tree in file.documents.trees:
        docker = tree.get("docker")
        if docker is None or "provider" not in tree or not any(key in tree for key in _OWN):
            continue
        for key, own_options in _NODES.items():
            image = docker.get(key)
            if image is not None and image.text:
                yield _workload(image, docker, own_options, file)


def _workload(image: Tree, docker: Tree, own_options: str, file: DeployFile) -> Workload:
    text = image.text or ""
    known = None if "$" in text else text
    workload = Workload(
        RAY,
        file.path,
        image.key_at,
        name=docker.text_of("container_name"),
        folder=os.path.dirname(file.absolute),
        image=Setting(known, image.at, text),
    )
    keys = ("run_options", own_options) if own_options else ("run_options", *_NODES.values())
    apply(run_options("docker", [word for key in keys for word in _words(docker.get(key), file)]), workload)
    switch = docker.get("disable_shm_size_detection")
    if workload.shm.source is ShmSource.DEFAULT and not (switch is not None and switch.is_true):
        workload.shm = SharedMemory(ShmSource.PLATFORM)
    return workload


def _words(options: Tree | None, file: DeployFile) -> list[Word]:
    """The words of a list of options, each of which a shell takes apart."""
    found: list[Word] = []
    for item in options.items() if options is not None else ():
        if isinstance(item.node, ScalarNode):
            script = Script(scalar(file, item.node), os.path.dirname(file.absolute))
            found += [word for command in commands_in(script, file) for word in command.words]
    return found
