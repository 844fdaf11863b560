"""What a script imports of the project, by where its imports lead and not by names alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dllint.code.language.importing import modules_of_use
from dllint.code.language.modules import Module

if TYPE_CHECKING:
    from dllint.code.program import Program


class Imports:
    """Which modules a script reaches, of those that lead to certain modules."""

    def __init__(self, program: Program, wanted: Iterable[Module]) -> None:
        self._program = program
        # By names first: what does not even name a module on the way is not parsed.
        self._leading = {id(other) for module in wanted for other in program.importers(module)}
        self._imported: dict[Module, list[Module]] = {}
        self._reached: dict[Module, set[Module]] = {}

    def reached_from(self, script: Module) -> set[Module]:
        """The script, and the modules that it imports, directly or not."""
        if script not in self._reached:
            found = self._reached[script] = {script}
            pending = [script]
            while pending:
                new = [module for module in self._imported_by(pending.pop()) if module not in found]
                found.update(new)
                pending.extend(new)
        return self._reached[script]

    def _imported_by(self, module: Module) -> list[Module]:
        if module not in self._imported:
            known = modules_of_use(self._program.modules, module) if id(module) in self._leading else ()
            self._imported[module] = [other for other in known if id(other) in self._leading]
        return self._imported[module]
