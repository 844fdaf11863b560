"""The commands that Python code starts: lists of words, strings for a shell, and the cells of notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.code.language.modules import Module
from dllint.deploy.commands import Command, Script, commands_in, may_start
from dllint.deploy.launchers import starts_in_a_cell
from dllint.deploy.texts import DeployFile
from dllint.files import Kind, SourceFile
from dllint.patterns import pattern
from dllint.syntax.mapped import Mapped

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_PROGRAMS = ("docker", "podman")
_RUNS = pattern(
    rb"[\"'](?:run|create|container|build|buildx|compose|up|exec)[\"']"
    rb"|(?:docker|podman)(?:(?!docker|podman)[^\n])*[ \t](?:run|create|build|up|exec)\b"
)
_EXPRESSION = pattern(r"(?<![${])\{[^{}\n]+\}")
"""What IPython replaces by the value of a Python expression: `!docker run --shm-size={size}`."""


def every(plan: Plan) -> list[Command]:
    """The commands of all modules that may start or build containers, in the order of the modules."""
    modules = plan.program.modules.by_file.values()
    in_cells = [command for module in modules if starts_in_a_cell(module) for command in of_cells(module, plan)]
    calling = dict.fromkeys(module for word in _PROGRAMS for module in plan.program.modules_with(word))
    return in_cells + [command for module in calling for command in of_module(module, plan)]


def of_module(module: Module, plan: Plan) -> list[Command]:
    """The command lines that a Python module spells out; a test's are no use of the project."""
    return plan.shared(_Read).of_module(module, plan)


def of_cells(module: Module, plan: Plan) -> list[Command]:
    """What the cells of a notebook give to a shell."""
    return plan.shared(_Read).of_cells(module)


class _Read:
    """Modules are read once."""

    def __init__(self, plan: Plan) -> None:
        self._of_modules: dict[Module, list[Command]] = {}
        self._of_cells: dict[Module, list[Command]] = {}

    def of_module(self, module: Module, plan: Plan) -> list[Command]:
        if module not in self._of_modules:
            self._of_modules[module] = _module_commands(module, plan)
        return self._of_modules[module]

    def of_cells(self, module: Module) -> list[Command]:
        if module not in self._of_cells:
            self._of_cells[module] = _cell_commands(module)
        return self._of_cells[module]


def file_of(module: Module) -> DeployFile:
    """A Python module as a file that may start containers."""
    return DeployFile(SourceFile(module.path, module.absolute, Kind.PYTHON, module.is_target), module.data)


def _module_commands(module: Module, plan: Plan) -> list[Command]:
    if module.is_test or not _RUNS.search(module.data):
        return []
    from dllint.deploy.argv import commands_of

    return list(commands_of(module, file_of(module), plan))


def _cell_commands(module: Module) -> list[Command]:
    source = SourceFile(module.path, module.absolute, Kind.NOTEBOOK, module.is_target)
    # As a variable of the shell that nothing sets, each character in its place: not known.
    shell = _EXPRESSION.sub(lambda found: "$" + "_" * (len(found[0]) - 1), module.shell)
    file = DeployFile(source, shell.encode("utf-8", "replace"))
    return commands_in(Script(Mapped(file.text), file.folder), file) if may_start(file) else []
