"""`docker run` out of Python: lists of words (`subprocess.run(["docker", "run", ...])`) and shell strings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language.modules import Module
from dllint.deploy.code_commands import of_module
from dllint.deploy.launchers.docker_run import workloads_of
from dllint.deploy.workload import Workload

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan


def find(module: Module, plan: Plan) -> Iterator[Workload]:
    """The containers that a Python module starts by a command line."""
    for command in of_module(module, plan):
        yield from workloads_of(command, plan)
