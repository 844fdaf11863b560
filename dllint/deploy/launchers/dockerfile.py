"""An image that the project builds, as something that somebody will run: one workload for each Dockerfile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.deploy import images
from dllint.deploy.texts import DeployFile
from dllint.deploy.workload import DOCKERFILE, Build, Workload

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan


def find(file: DeployFile, plan: Plan) -> Iterator[Workload]:
    """The image that a Dockerfile gives, run without any option."""
    image = images.of_file(file, plan)
    if image is None:
        return
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
    )
