"""One project as rules see it: what its Python code means, and what it runs in containers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dllint.code.language.watched import CONTAINERS
from dllint.code.program import Program, is_config
from dllint.code.unreadable import Unreadable
from dllint.files import Kind, Project, SourceFile
from dllint.patterns import pattern
from dllint.records import replace
from dllint.settings import Settings
from dllint.suppressions import Source

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan
    from dllint.deploy.texts import DeployFile

_LARGEST = 5_000_000
"""Bytes of a file that is not code: what is larger is data, or generated."""
_CODE = (Kind.PYTHON, Kind.NOTEBOOK)

_START = 10_000
"""Bytes that tell what a file is that is too large to be read whole."""
_LAUNCHER = pattern(rb"(?m)^(?:services|apiVersion)[ \t]*:")


class WholeProject:
    """The subjects of all rules, and the texts of all files, of one project."""

    def __init__(self, project: Project, settings: Settings) -> None:
        self._unreadable = [Unreadable(path, 1, 1, "it cannot be listed", "folder") for path in project.unlisted]
        self._texts: dict[str, bytes | None] = {}
        others = [file for file in project.files if file.kind not in _CODE]
        configs = {file.path: file for file in self._configs(others)}
        code = (configs.get(file.path, file) for file in project.files)
        code_files = tuple(file for file in code if file.kind in _CODE or file.path in configs)
        self.code = Program(Project(project.root, code_files), settings)
        self._settings = settings
        self._runners = project.runners
        self._others = others
        self._starts_containers = self._may_start_containers()
        """Only then a file of a container matters, and modules that no import joins with the targets."""
        if not self._starts_containers:
            self._others = [file for file in others if file.target]
            self.code.leave_out_far()

    def _may_start_containers(self) -> bool:
        """Whether a target may start a container, as far as its bytes tell."""
        targets = [file for file in self._others if file.target]
        modules = [module for module in self.code.targets if any(map(module.has, CONTAINERS))]
        notebooks = [module for module in self.code.targets if module.is_notebook]
        if not targets and not modules and not notebooks:
            return False
        from dllint.deploy.launchers import CODE_FRONT_ENDS, FRONT_ENDS, starts_in_a_cell

        if any(front_end.may_read(module) for module in modules for front_end in CODE_FRONT_ENDS):
            return True
        if any(map(starts_in_a_cell, notebooks)):
            return True
        return any(front_end.may_read(file) for file in self._deploy_files(targets) for front_end in FRONT_ENDS)

    @cached_property
    def plan(self) -> Plan:
        """What runs in containers."""
        from dllint.deploy.plan import Plan

        return Plan(self.code, self._deploy_files(self._others), self._settings, self._runners)

    def _configs(self, files: Iterable[SourceFile]) -> Iterator[SourceFile]:
        """The YAML files that hold calls, with their data."""
        for file in files:
            data = self._data_of(file) if file.kind is Kind.YAML else None
            if data is not None and is_config(file, data):
                yield replace(file, data=data)

    def _deploy_files(self, files: Iterable[SourceFile]) -> list[DeployFile]:
        from dllint.deploy.texts import DeployFile

        return [DeployFile(file, data) for file in files if (data := self._data_of(file)) is not None]

    def _data_of(self, file: SourceFile) -> bytes | None:
        """The bytes of a file that is not code and may start a container; None if it cannot or they are too many."""
        if file.path not in self._texts:
            self._texts[file.path] = self._read(file)
        return self._texts[file.path]

    def _read(self, file: SourceFile) -> bytes | None:
        try:
            data = file.read(_LARGEST + 1)
        except OSError as error:
            if file.explicit or (file.target and file.kind in (Kind.YAML, Kind.DOCKERFILE)):
                self._unreadable.append(Unreadable(file.path, 1, 1, error.strerror or "cannot be read"))
            return None
        if len(data) > _LARGEST:
            if file.explicit or (file.target and _is_launcher(file, data)):
                reason = f"larger than {_LARGEST // 1_000_000} MB"
                self._unreadable.append(Unreadable(file.path, 1, 1, reason))
            return None
        return data if file.explicit or data else None

    @property
    def size(self) -> int:
        """Bytes of what may matter."""
        return self.code.size

    def prepare(self) -> None:
        """Find what all subjects share."""
        self.code.prepare()
        _ = self.subjects("Training")

    def subjects(self, kind: str) -> Iterable[Any]:
        """All subjects of a rule whose check takes an object of the class `kind`."""
        if kind == "Training":
            return self.plan.trainings if self._starts_containers else ()
        if kind == Unreadable.__name__:
            return self._unreadable_files()
        return self.code.subjects(kind)

    def _unreadable_files(self) -> Iterator[Unreadable]:
        yield from self._unreadable
        yield from self.code.subjects(Unreadable.__name__)
        if self._starts_containers:
            yield from self.plan.unreadable()

    def source(self, path: str) -> Source | None:
        """The text of a file by the path that it is shown with."""
        return self.code.source(path) or self._deployed.get(path)

    @cached_property
    def _deployed(self) -> dict[str, DeployFile]:
        return {file.path: file for file in self.plan.files.values()}


def _is_launcher(file: SourceFile, data: bytes) -> bool:
    """Whether a file too large to be parsed starts as a compose file, or a manifest of Kubernetes, does."""
    return file.kind is Kind.YAML and _LAUNCHER.search(data[:_START]) is not None
