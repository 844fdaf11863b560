"""How the project says that an image is run: by a launcher that dllint reads, or by words for people."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from dllint.deploy import images
from dllint.deploy.evidence import training_image
from dllint.deploy.images import Image
from dllint.deploy.training import LoaderRun, Training
from dllint.deploy.workload import DOCKERFILE
from dllint.files import Kind

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_EXPLAINS = re.compile(rb"--shm[-_]size|--ipc[= ]host|\bshm_size\b|\bhostIPC\b|\bipc: *[\"']?host|/dev/shm", re.IGNORECASE)
_KINDS = (
    Kind.MARKDOWN,
    Kind.SHELL,
    Kind.POWERSHELL,
    Kind.BATCH,
    Kind.MAKEFILE,
    Kind.YAML,
    Kind.JSON,
    Kind.HCL,
    Kind.QUADLET,
)


def loader_in_image(training: Training) -> LoaderRun | None:
    """A loader with workers that the image starts, or that a script starts which is copied into it."""
    started = next((loader for loader in training.loaders if (loader.workers or 0) > 0), None)
    if started is not None or training.runs:
        return started
    image = images.built_for(training.workload, training.plan)
    if image is None or image.cmd or image.entrypoint or not training_image(training.workload, image, training.plan):
        return None
    return next((LoaderRun(loader, None) for loader in _copied_loaders(image, training.plan)), None)


def is_run(training: Training) -> bool:
    """Whether a launcher of the project runs the image: then that is what the other rules look at."""
    plan = training.plan
    image = images.built_for(training.workload, plan)
    others = (workload for workload in plan.workloads if workload.launcher is not DOCKERFILE)
    return any(images.built_for(workload, plan) is image for workload in others)


def is_explained(training: Training) -> bool:
    """Whether a comment of the Dockerfile, or any other text of the project, speaks of more shared memory."""
    own = training.workload.path
    for file in training.plan.files.values():
        if (file.path == own or file.kind in _KINDS) and _EXPLAINS.search(file.data):
            return True
    return False
