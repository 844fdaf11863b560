"""`docker run` in the cells of notebooks: `!docker run ...`, and cells that a shell runs whole (`%%bash`)."""

from __future__ import annotations

import re
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

_EXPRESSION = re.compile(r"(?<![${])\{[^{}\n]+\}")
"""What IPython replaces by the value of a Python expression: `!docker run --shm-size={size}`."""


def find(module: Module, plan: Plan) -> Iterator[Workload]:
    """The containers that a notebook's shell commands run."""
    source = SourceFile(module.path, module.absolute, Kind.NOTEBOOK, module.is_target)
    # As a variable of the shell that nothing sets, each character in its place: not known.
    shell = _EXPRESSION.sub(lambda found: "$" + "_" * (len(found[0]) - 1), module.shell)
    file = DeployFile(source, shell.encode("utf-8", "replace"))
    if may_start(file):
        for command in commands_in(Script(Mapped(file.text), file.folder), file):
            yield from workloads_of(command, plan)
