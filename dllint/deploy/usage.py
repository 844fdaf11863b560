"""How the project says that an image is run: by a launcher that dllint reads, or by words for people."""

from __future__ import annotations

import glob
import os
import re
from fnmatch import fnmatch
from typing import TYPE_CHECKING

from dllint.code.loader import Loader
from dllint.deploy.evidence import training_image
from dllint.deploy.images import Image
from dllint.deploy.training import LoaderRun, Training
from dllint.deploy.workload import DOCKERFILE
from dllint.files import Kind

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_EXPLAINS = re.compile(
    rb"--shm[-_]size|--ipc[= ]host|\bshm_size\b|\bhostIPC\b|\bipc: *[\"']?host|/dev/shm", re.IGNORECASE
)
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
    image = training.plan.images.built_for(training.workload)
    if image is None or image.command or not training_image(training.workload, image, training.plan):
        return None
    return next((LoaderRun(loader, None) for loader in _copied_loaders(image, training.plan)), None)


def is_run(training: Training) -> bool:
    """Whether a launcher of the project runs the image: then that is what the other rules look at."""
    plan = training.plan
    image = plan.images.built_for(training.workload)
    others = (workload for workload in plan.workloads if workload.launcher is not DOCKERFILE)
    return any(plan.images.built_for(workload) is image for workload in others)


def is_explained(training: Training) -> bool:
    """Whether a comment of the Dockerfile, or any other text of the project, speaks of more shared memory."""
    own = training.workload.path
    for file in training.plan.files.values():
        if (file.path == own or file.kind in _KINDS) and _EXPLAINS.search(file.data):
            return True
    return False


def _copied_loaders(image: Image, plan: Plan) -> list[Loader]:
    """The loaders with workers in scripts that are copied into an image."""
    context = _context(image, plan)
    sources = [os.path.normpath(os.path.join(context, copy.source)) for copy in image.copies]
    return [
        loader
        for loader in plan.program.facts.loaders
        if loader.has_workers and not loader.module.is_test and any(_holds(s, loader.module.absolute) for s in sources)
    ]


def _context(image: Image, plan: Plan) -> str:
    """The folder that the image is most likely built from: the first in which all lies that it copies by name."""
    named = [copy.source for copy in image.copies if copy.source not in (".", "./", "*") and "$" not in copy.source]
    for folder in (image.file.folder, plan.root):
        if all(glob.glob(os.path.join(glob.escape(folder), source.lstrip("/"))) for source in named):
            return folder
    return image.file.folder


def _holds(source: str, path: str) -> bool:
    """Whether a copied file, folder or pattern holds the file at an absolute path."""
    return path == source or path.startswith(source.rstrip("*").rstrip("/") + "/") or fnmatch(path, source)
