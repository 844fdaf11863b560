"""`docker run` in the cells of notebooks: `!docker run ...`, and cells that a shell runs whole (`%%bash`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language.modules import Module
from dllint.deploy.code_commands import of_cells
from dllint.deploy.launchers.docker_run import workloads_of
from dllint.deploy.workload import Workload

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan


def find(module: Module, plan: Plan) -> Iterator[Workload]:
    """The containers that a notebook's shell commands run."""
    for command in of_cells(module, plan):
        yield from workloads_of(command, plan)
