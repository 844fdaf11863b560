"""How the project says that an image is run: by a launcher that dllint reads, or by words for people."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dllint.deploy.code_memory import is_given_by_code
from dllint.deploy.copied import Copied
from dllint.deploy.evidence import has_own_loaders, training_image
from dllint.deploy.images import Image, built_for
from dllint.deploy.sizes import DEFAULT_SHM
from dllint.deploy.training import Training, fit
from dllint.deploy.workload import DOCKERFILE
from dllint.files import Kind
from dllint.finding import Location, Related
from dllint.patterns import pattern

if TYPE_CHECKING:
    from dllint.code.loaders.loader import Loader
    from dllint.deploy.plan import Plan

_EXPLAINS = pattern(rb"-shm[-_]size|--ipc[= ]host|\bshm_size\b|\bhostIPC\b|\bipc: *[\"']?host|/dev/shm", re.IGNORECASE)
_RUNS_ON_THE_HOST = pattern(
    rb"\b(?:apptainer|singularity)[ \t]+(?:-\S+[ \t]+)*(?:exec|run|shell|build|pull|instance)\b"
    rb"|--container-image\b|\benroot[ \t]+(?:import|create|start)\b"
)
"""Apptainer, and enroot as Slurm's pyxis uses it, run images of docker with the machine's own /dev/shm."""
_KINDS = (
    Kind.MARKDOWN,
    Kind.RESTRUCTURED,
    Kind.SHELL,
    Kind.POWERSHELL,
    Kind.BATCH,
    Kind.MAKEFILE,
    Kind.YAML,
    Kind.JSON,
    Kind.HCL,
    Kind.QUADLET,
    Kind.TASKS,
)


def workers_of_image(training: Training) -> list[Related] | None:
    """The loader with workers that the image starts, or that a script starts which is copied into it; None without,
    or where all that the loaders need fits certainly into the default.

    An empty list stands for workers that a library's own command starts.
    """
    started = next((loader for loader in training.loaders if loader.has_workers), None)
    if started is not None:
        return [started.related()] if not training.fits(DEFAULT_SHM) else None
    if training.runs:
        return None
    if has_own_loaders(training):
        return []
    image = built_for(training.workload, training.plan)
    if image is None or image.command or not training_image(training.workload, image, training.plan):
        return None
    copied = _copied_loaders(image, training.plan)
    if not copied:
        return None
    from dllint.deploy.loader_runs import LoaderRun

    runs = [LoaderRun(loader, None) for loader in copied]
    return [runs[0].related()] if not fit(runs, DEFAULT_SHM, training.plan.settings.batch_bytes) else None


def is_run(training: Training) -> bool:
    """Whether a launcher of the project runs the image: then that is what the other rules look at."""
    image = built_for(training.workload, training.plan)
    # The arguments of a build make another image of the same stage.
    return image is not None and image.at in training.plan.shared(_run_stages)


def _run_stages(plan: Plan) -> set[Location]:
    """The places of the images that launchers of the project run."""
    launched = (built_for(workload, plan) for workload in plan.workloads if workload.launcher is not DOCKERFILE)
    return {image.at for image in launched if image is not None}


def is_sized_for_its_build(training: Training) -> bool:
    """Whether a file that builds the image sizes the memory of the build, which DLL703 reports there."""
    image = built_for(training.workload, training.plan)
    return image is not None and image in training.plan.shared(_sized_images)


def _sized_images(plan: Plan) -> set[Image]:
    """The images whose Dockerfile or build does something about /dev/shm, to no effect."""
    flawed = (workload for workload in plan.workloads if workload.launcher is DOCKERFILE and workload.flaws)
    return {image for workload in flawed if (image := built_for(workload, plan)) is not None}


def is_explained(training: Training) -> bool:
    """Whether a comment of the Dockerfile, or any other text or code of the project, speaks of more shared memory, or
    runs images where they have that of the machine."""
    own, plan = training.workload.path, training.plan
    if plan.shared(_is_explained_somewhere) or plan.shared(is_given_by_code):
        return True
    file = plan.by_path.get(own)
    return file is not None and _EXPLAINS.search(file.data) is not None


def _is_explained_somewhere(plan: Plan) -> bool:
    return any(_EXPLAINS.search(file.data) or _RUNS_ON_THE_HOST.search(file.data) for file in plan.of_kind(*_KINDS))


def _copied_loaders(image: Image, plan: Plan) -> list[Loader]:
    """The loaders with workers in scripts that are copied into an image."""
    copied = Copied(image, plan)
    working = [loader for loader in plan.program.loaders if loader.has_workers and not loader.module.is_test]
    held = [loader for loader in working if copied.holds(loader.module.absolute)]
    if not held:
        return held
    from dllint.deploy.reached import called

    return called(held)
