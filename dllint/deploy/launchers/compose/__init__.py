"""Compose files: services after merge, extension, inclusion and interpolation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.deploy.launchers.compose.files import compose_documents
from dllint.deploy.launchers.compose.projects import Projects, projects
from dllint.deploy.launchers.compose.services import workload
from dllint.deploy.launchers.compose.variants import base_workload, variant_workloads, variants_of
from dllint.deploy.workload import ShmSource, Workload
from dllint.finding import Location

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan
    from dllint.deploy.texts import DeployFile


def find(file: DeployFile, plan: Plan) -> Iterator[Workload]:
    """The services whose base stands in a file. Raises CannotParseError for a broken compose file."""
    if compose_documents(file):
        yield from plan.shared(_by_path).get(file.path, ())


def _by_path(plan: Plan) -> dict[str, list[Workload]]:
    """The workloads of all compose files, by the file that reports them."""
    worst: dict[Location, Workload] = {}
    for found in _workloads(plan, projects(plan)):
        if found.at not in worst or _badness(found) > _badness(worst[found.at]):
            worst[found.at] = found
    by_path: dict[str, list[Workload]] = {}
    for found in worst.values():
        by_path.setdefault(found.path, []).append(found)
    return by_path


def _workloads(plan: Plan, found: Projects) -> Iterator[Workload]:
    for project in found.named:
        yield from filter(None, (workload(project, name, plan) for name in project.service_names()))
    beside = {id(base): variants_of(base, found.alone) for base in found.default}
    for base in found.default:
        yield from filter(None, (base_workload(base, name, beside[id(base)], plan) for name in base.service_names()))
    for project in found.alone:
        below = next((base for base in found.default if project in beside[id(base)]), None)
        if below is not None:
            yield from variant_workloads(project, below, plan)
        else:
            yield from filter(None, (workload(project, name, plan) for name in project.service_names()))


def _badness(found: Workload) -> tuple[int, int]:
    """Of several commands that start one service with different files, the worst one is reported."""
    size = found.shm.size.value if found.shm.size is not None else None
    if found.flaws or found.shm.source is ShmSource.DEFAULT:
        return (3, 0)
    if size is not None:
        return (2, -size)
    return (1 if found.shm.source is ShmSource.DISK else 0, 0)
