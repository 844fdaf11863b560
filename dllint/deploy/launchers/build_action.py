"""GitHub's build-push-action: its `shm-size` is the memory of a build, which people take for that of the containers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.deploy.build_actions import build_steps
from dllint.deploy.workload import DOCKERFILE, Flaw, FlawKind, Setting, Workload

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan
    from dllint.deploy.texts import DeployFile

_WHAT = "`shm-size` of build-push-action sizes /dev/shm of the build alone"


def find(file: DeployFile, plan: Plan) -> Iterator[Workload]:
    """The images of the steps whose build has a size of shared memory."""
    for step in build_steps(file, plan):
        if step.shm_size is None:
            continue
        image = Setting(step.tags[0], step.at, step.tags[0]) if step.tags else None
        flaw = Flaw(FlawKind.NOT_EFFECTIVE, step.shm_size, _WHAT)
        yield Workload(DOCKERFILE, file.path, step.at, "", step.build.context, image, step.build, flaws=[flaw])
