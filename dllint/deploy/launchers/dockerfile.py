"""An image that the project builds, as something that somebody will run: one workload for each Dockerfile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.deploy import images
from dllint.deploy.texts import DeployFile
from dllint.deploy.usage_comments import told_starts
from dllint.deploy.workload import DOCKERFILE, Build, Workload
from dllint.syntax.dockerfile import refusal
from dllint.syntax.python import CannotParseError

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_NAMES = frozenset(("Dockerfile", "dockerfile", "Containerfile", "containerfile"))
"""Names, and suffixes, of what is a whole Dockerfile and no part of one."""
_MADE_INTO = frozenset(
    (
        "dockerignore",
        "ejs",
        "erb",
        "hbs",
        "in",
        "j2",
        "jinja",
        "jinja2",
        "m4",
        "mustache",
        "template",
        "tmpl",
        "tpl",
        "txt",
    )
)
"""Suffixes of what a Dockerfile is made from, and of what only lies beside one."""


def find(file: DeployFile, plan: Plan) -> Iterator[Workload]:
    """The image that a Dockerfile gives, run without any option. Raises CannotParseError where docker refuses it."""
    image = images.of_file(file, plan)
    if image is not None:
        yield Workload(
            DOCKERFILE,
            file.path,
            image.at,
            folder=file.folder,
            build=Build(file.folder, file.absolute),
            workdir=image.workdir,
            shm=image.shm,
            flaws=list(image.flaws),
            environment=dict(image.environment),
            is_environment_whole=True,
            also_runs=tuple(told_starts(file)),
        )
    fault = _fault(file)
    if fault is not None:
        raise fault


def _fault(file: DeployFile) -> CannotParseError | None:
    """Why docker refuses a file; None where it does not, and for what may be a template or a part of a Dockerfile."""
    suffix = file.name.rpartition(".")[2].lower()
    if suffix in _MADE_INTO or not file.is_target or file.has(b"{{") or file.has(b"{%") or file.has(b"<%"):
        return None
    found = file.instructions
    whole = file.explicit and (file.name in _NAMES or suffix in _NAMES)
    if not whole and not any(instruction.keyword == "FROM" for instruction in found):
        return None
    if file.is_utf16:
        return CannotParseError("it is encoded in UTF-16, which docker does not read")
    return refusal(file.text, found)
