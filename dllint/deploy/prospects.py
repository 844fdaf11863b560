"""Whether anything in a project may train with torch, as far as its bytes tell: else no container has to be read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.deploy.launchers import CODE_FRONT_ENDS, starts_in_a_cell
from dllint.deploy.library_trainers import LIBRARY
from dllint.deploy.texts import DeployFile
from dllint.files import Kind

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

TRAINERS = (
    b"torch",
    b"deepspeed",
    b"accelerate",
    b"composer",
    b"ultralytics",
    b"yolo",
    b"nnunet",
    b"nvidia/nemo",
    b"monai",
    b"axolotl",
    b"llm-foundry",
    b"huggingface",
    b"trainjob",
)
"""In lower case: of each image, command and kind that `dllint.deploy.evidence` knows, one of these is a part."""
_UNSEEN = b"--env-file"
"""What names a file of variables that is none of the files that are read."""


def may_train(plan: Plan) -> bool:
    """Whether a container of a project may train: it has loaders, calls a launcher itself, a file has the words,
    or its code uses a library that trains by itself."""
    return (
        bool(plan.settings.training_images)
        or any(_says(data) for data in _texts(plan))
        or any(plan.program.modules_with(front_end.word) for front_end in CODE_FRONT_ENDS)
        or bool(plan.program.loaders)
        or bool(plan.program.modules_with(LIBRARY))
    )


def _says(data: bytes) -> bool:
    lower = data.lower()
    return any(word in lower for word in TRAINERS) or _UNSEEN in lower


def _texts(plan: Plan) -> Iterator[bytes]:
    """The files, and the `.env` beside those that have variables."""
    for file in plan.files.values():
        yield file.data
    for module in filter(starts_in_a_cell, plan.program.modules.by_file.values()):
        yield module.shell.encode("utf-8", "replace")
    folders = {file.folder for file in plan.of_kind(Kind.YAML) if file.has(b"services", b"$")}
    for folder in sorted(folders):
        yield (plan.read_aside(".env", folder) or "").encode()


def may_be_broken(file: DeployFile) -> bool:
    """Whether a file may be one that its launcher refuses."""
    if file.kind in (Kind.YAML, Kind.JSON):
        return not file.is_well_formed
    return file.kind is Kind.DOCKERFILE
