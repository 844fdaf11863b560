"""One project as rules see it: what its Python code means, and what it runs in containers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from dllint.code.program import Program, Unreadable, is_config
from dllint.deploy.plan import Plan
from dllint.deploy.texts import DeployFile
from dllint.files import Kind, Project, SourceFile
from dllint.records import replace
from dllint.settings import Settings
from dllint.suppressions import Source

_LARGEST = 5_000_000
"""Bytes of a file that is not code: what is larger is data, or generated."""
_CODE = (Kind.PYTHON, Kind.NOTEBOOK)


class WholeProject:
    """The subjects of all rules, and the texts of all files, of one project."""

    def __init__(self, project: Project, settings: Settings) -> None:
        self._unreadable: list[Unreadable] = []
        others = [(file, data) for file in project.files if (data := self._data_of(file)) is not None]
        configs = {file.path: replace(file, data=data) for file, data in others if is_config(file, data)}
        code = (configs.get(file.path, file) for file in project.files)
        code_files = tuple(file for file in code if file.kind in _CODE or file.path in configs)
        self.code = Program(Project(project.root, code_files), settings)
        self.plan = Plan(self.code, [DeployFile(file, data) for file, data in others], settings)
        self.code.needs_all = self.plan.may_start_targets()

    def _data_of(self, file: SourceFile) -> bytes | None:
        """The bytes of a file that holds no code and may start a container; None if it cannot or they are too many."""
        if file.kind in _CODE:
            return None
        try:
            data = file.read(_LARGEST + 1)
        except OSError as error:
            if file.explicit or (file.target and file.kind in (Kind.YAML, Kind.DOCKERFILE)):
                self._unreadable.append(Unreadable(file.path, 1, 1, error.strerror or "cannot be read"))
            return None
        return data if len(data) <= _LARGEST and (file.explicit or data) else None

    @property
    def size(self) -> int:
        """Bytes of what may matter."""
        return self.code.size

    def prepare(self) -> None:
        """Find what all subjects share."""
        self.code.prepare()
        _ = self.plan.trainings

    def subjects(self, kind: str) -> Iterable[Any]:
        """All subjects of a rule whose check takes an object of the class `kind`."""
        if kind == "Training":
            return self.plan.trainings
        if kind == Unreadable.__name__:
            return self._unreadable_files()
        return self.code.subjects(kind)

    def _unreadable_files(self) -> Iterator[Unreadable]:
        yield from self._unreadable
        yield from self.code.subjects(Unreadable.__name__)
        yield from self.plan.unreadable()

    def source(self, path: str) -> Source | None:
        """The text of a file by the path that it is shown with."""
        return self.code.source(path) or self._others.get(path)

    @cached_property
    def _others(self) -> dict[str, DeployFile]:
        return {file.path: file for file in self.plan.files.values()}
