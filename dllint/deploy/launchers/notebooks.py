"""`docker run` in the cells of notebooks: `!docker run ...`, and cells that a shell runs whole (`%%bash`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language.modules import Module
from dllint.deploy.commands import Script, commands_in, may_start
from dllint.deploy.launchers.docker_run import workloads_of
from dllint.deploy.texts import DeployFile
from dllint.deploy.workload import Workload
from dllint.files import Kind, SourceFile
from dllint.syntax.mapped import Mapped

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan


def find(module: Module, plan: Plan) -> Iterator[Workload]:
    """The containers that a notebook's shell commands run."""
    source = SourceFile(module.path, module.absolute, Kind.NOTEBOOK, module.is_target)
    file = DeployFile(source, module.shell.encode("utf-8", "replace"))
    if may_start(file):
        for command in commands_in(Script(Mapped(file.text), file.folder), file):
            yield from workloads_of(command, plan)
