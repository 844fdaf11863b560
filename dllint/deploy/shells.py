"""Containers to work in by hand: a shell that a command opens, a dev container, and memory given beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.deploy.workload import ShmSource, Workload
from dllint.patterns import pattern

if TYPE_CHECKING:
    from dllint.deploy.images import Image
    from dllint.deploy.plan import Plan

_SHELL = pattern(r"(?:\S*/)?(?:ba|z|da|k)?sh")


def opens_shell(workload: Workload) -> bool:
    """Whether all that a container is told to run is a shell, or nothing."""
    return all(map(_is_of_shell, workload.start.words))


def _is_of_shell(word: str) -> bool:
    return _SHELL.fullmatch(word) is not None or word.startswith("-")


def is_shell_beside(workload: Workload, plan: Plan) -> bool:
    """Whether a command only opens a shell, and the same file runs the same image with shared memory: that is where it
    trains."""
    image = workload.image.value if workload.image is not None else None
    if (
        not image
        or not workload.start.words
        or not workload.launcher.name.endswith(" run")
        or not opens_shell(workload)
    ):
        return False
    return (workload.path, image) in plan.shared(given_memory)


def is_to_work_in(workload: Workload, image: Image) -> bool:
    """Whether a container is a place to work in: a dev container, or a shell that a command opens in an image of the
    project."""
    if workload.launcher.is_workplace:
        return True
    if not workload.launcher.name.endswith(" run"):
        return False
    return all(map(_is_of_shell, workload.start.words or image.command or ()))


def given_memory(plan: Plan) -> frozenset[tuple[str, str]]:
    """The files and images of the workloads that get more shared memory than the default, or the host's."""
    given = (each for each in plan.workloads if each.shm.source is not ShmSource.DEFAULT)
    return frozenset((each.path, each.image.value) for each in given if each.image is not None and each.image.value)


def is_memory_given(plan: Plan) -> bool:
    """Whether any container of the project gets more shared memory than the default, or the host's."""
    return any(each.shm.source is not ShmSource.DEFAULT for each in plan.workloads)
