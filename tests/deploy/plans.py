"""Small projects for tests of what runs where."""

from __future__ import annotations

from pathlib import Path

from dllint.deploy.plan import Plan
from dllint.deploy.workload import Workload
from dllint.files import discover
from dllint.settings import Settings
from dllint.whole import WholeProject


def plan_of(folder: Path, files: dict[str, str]) -> Plan:
    """The plan of a project with these files, by their paths."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (project,) = discover([str(folder)], Settings())
    return WholeProject(project, Settings()).plan


def workloads_of(folder: Path, files: dict[str, str]) -> dict[str, Workload]:
    """The workloads of such a project, by their names."""
    return {workload.name: workload for workload in plan_of(folder, files).workloads}
