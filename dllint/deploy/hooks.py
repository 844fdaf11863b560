"""Loaders that a DataModule or LightningModule builds when a trainer asks for them, and scripts where none does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.code.language.conditions import is_guarded
from dllint.code.language.modules import Module
from dllint.code.language.scopes import FunctionScope
from dllint.kinds import Kind
from dllint.patterns import pattern

if TYPE_CHECKING:
    from dllint.code.loaders.loader import Loader
    from dllint.deploy.plan import Plan

_STAGES = ("train", "val", "test", "predict")
_HOOKS = frozenset(f"{stage}_dataloader" for stage in _STAGES)
_TRAINERS = pattern(rb"\b(?:Trainer|LightningCLI|instantiate|import_module|getattr|Fabric)\b")
"""What asks an object for its loaders, or may make what does."""
_MAY_NAME = (Kind.YAML, Kind.JSON, Kind.DOCKERFILE, Kind.SHELL, Kind.MAKEFILE)
"""Files with settings and commands: `cli.py fit --data=Scans` names a class."""


class Hooks:
    """Which scripts have something that asks the hooks of a class for loaders."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._imported: dict[Module, set[Module]] = {}

    def are_asked(self, loader: Loader, script: Module) -> bool:
        """Whether a script may come to a loader: always, unless a hook of a class builds it. Then a module that the
        script imports, directly or not, has to have a trainer, and to name the class, if no settings or commands do."""
        scope = loader.start
        if not isinstance(scope, FunctionScope) or scope.owner is None or scope.name not in _HOOKS:
            return True
        modules = self._imported_by(script)
        if not any(_asks(module, module is script) for module in modules):
            return False
        name = scope.owner.name
        if any(_names(module, name, module is script) for module in modules):
            return True
        return any(file.has(name.encode()) for file in self._plan.of_kind(*_MAY_NAME))

    def _imported_by(self, script: Module) -> set[Module]:
        if script not in self._imported:
            found, pending = {script}, [script]
            while pending:
                new = [other for other in self._plan.program.imports_of(pending.pop()) if other not in found]
                found.update(new)
                pending += new
            self._imported[script] = found
        return self._imported[script]


def _asks(module: Module, is_script: bool) -> bool:
    """Whether a module has a trainer, or calls a hook itself, other than to try it out where it is itself run."""
    if _TRAINERS.search(module.data):
        return True
    calls = (call for hook in _HOOKS for call, _ in module.calls_of(hook))
    return any(is_script or not is_guarded(call) for call in calls)


def _names(module: Module, name: str, is_script: bool) -> bool:
    """Whether a module names a class, other than to define or to import it, or to try it out where it is itself run."""
    lines = module.data.split(b"\n")
    tried = set() if is_script else {call.lineno for call, _ in module.calls_of(name) if is_guarded(call)}
    rows = (row for row in module.lines_with(name) if row <= len(lines) and row not in tried)
    other_uses = (b"class " + name.encode(), b"from ", b"import ", b"#")
    return any(not lines[row - 1].lstrip().startswith(other_uses) for row in rows)
