"""docker-bake files: a target's `shm-size` is the memory of its build, which people take for that of its containers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.deploy.bakes import bake_targets
from dllint.deploy.workload import DOCKERFILE, Flaw, FlawKind, Setting, Workload
from dllint.finding import Location

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan
    from dllint.deploy.texts import DeployFile

_WHAT = "`shm-size` of a bake target sizes /dev/shm of the build alone"


def find(file: DeployFile, plan: Plan) -> Iterator[Workload]:
    """The images of the targets whose build has a size of shared memory; one place is one report."""
    seen: set[Location] = set()
    for target in bake_targets(file):
        if target.shm_size is None or target.shm_size in seen:
            continue
        seen.add(target.shm_size)
        image = Setting(target.tags[0], target.at, target.tags[0]) if target.tags else None
        flaw = Flaw(FlawKind.NOT_EFFECTIVE, target.shm_size, _WHAT)
        folder = target.build.context
        yield Workload(DOCKERFILE, file.path, target.at, target.name, folder, image, target.build, flaws=[flaw])
