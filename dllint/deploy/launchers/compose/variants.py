"""Files such as `docker-compose.gpu.yml` beside the base file, where no command says how they are used.

Such a file may be merged on top of the base or stand alone. Where the two ways differ in what a service finds at
/dev/shm, nothing is known of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.deploy.launchers.compose.projects import ComposeProject
from dllint.deploy.launchers.compose.services import workload
from dllint.deploy.workload import SharedMemory, ShmSource, Workload
from dllint.records import replace

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan


def variants_of(base: ComposeProject, alone: list[ComposeProject]) -> list[ComposeProject]:
    """The projects of one file each that lie beside the base and share a service with it."""
    names = set(base.service_names())
    folder = os.path.dirname(base.files[0])
    beside = [project for project in alone if os.path.dirname(project.files[0]) == folder]
    return [project for project in beside if project is not base and not names.isdisjoint(project.service_names())]


def base_workload(base: ComposeProject, name: str, variants: list[ComposeProject], plan: Plan) -> Workload | None:
    """A service of the base; its shared memory is unknown if a file that can only be merged on top changes it."""
    found = workload(base, name, plan)
    for variant in variants if found is not None else ():
        merged = workload(_on_top(base, variant), name, plan)
        if found is not None and workload(variant, name, plan) is None and not _agree(found, merged):
            return replace(found, shm=SharedMemory(ShmSource.UNKNOWN), flaws=[])
    return found


def variant_workloads(variant: ComposeProject, base: ComposeProject, plan: Plan) -> Iterator[Workload]:
    """The services of a file beside the base that are the same whether it is merged or stands alone."""
    for name in variant.service_names():
        alone = workload(variant, name, plan)
        if alone is not None and _agree(alone, workload(_on_top(base, variant), name, plan)):
            yield alone


def _on_top(base: ComposeProject, variant: ComposeProject) -> ComposeProject:
    return replace(base, files=(base.files[0], *variant.files))


def _agree(one: Workload, other: Workload | None) -> bool:
    if other is None or one.shm.source is not other.shm.source or bool(one.flaws) != bool(other.flaws):
        return False
    sizes = [workload.shm.size.value if workload.shm.size is not None else None for workload in (one, other)]
    return sizes[0] == sizes[1]
