"""All that a project runs in containers, as one plan: its files, the commands in them, its images and workloads."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

from dllint.code.language.modules import Module
from dllint.code.program import Program
from dllint.code.unreadable import Unreadable
from dllint.deploy import prospects
from dllint.deploy.imports import Imports
from dllint.deploy.launchers import CODE_FRONT_ENDS, FRONT_ENDS, find_in_cells
from dllint.deploy.texts import DeployFile
from dllint.files import Kind
from dllint.settings import Settings
from dllint.syntax.python import CannotParseError

if TYPE_CHECKING:
    from dllint.code.loaders.loader import Loader
    from dllint.deploy.training import Training
    from dllint.deploy.workload import Workload

_T = TypeVar("_T")
_LARGEST_ASIDE = 1_000_000
"""Bytes of a file beside the project's sources that is read at most (`.env`, requirements)."""


class Plan:
    """What will run where, in one project."""

    def __init__(
        self, program: Program, files: Iterable[DeployFile], settings: Settings, runners: Sequence[str] = ()
    ) -> None:
        self.program = program
        self.settings = settings
        self.root = program.modules.root
        self.files: dict[str, DeployFile] = {file.absolute: file for file in files}
        """By absolute path."""
        self.runners = runners
        """The absolute paths of files that may be a GitLab runner's settings."""
        self.errors: dict[str, CannotParseError] = {}
        """By absolute path: files that are recognisably a launcher's and cannot be read."""
        self._loaders: dict[Module, list[Loader]] = {}
        self._of_kinds: dict[tuple[Kind, ...], list[DeployFile]] = {}
        self._called: dict[Kind, dict[str, list[DeployFile]]] = {}
        self._shared: dict[Callable[[Plan], Any], Any] = {}

    def shared(self, find_out: Callable[[Plan], _T]) -> _T:
        """What a function finds out about the whole plan; it is asked once."""
        if find_out not in self._shared:
            self._shared[find_out] = find_out(self)
        found: _T = self._shared[find_out]
        return found

    # Files

    def file_at(self, path: str, folder: str) -> DeployFile | None:
        """The file of the project at a path as it is written in a file of `folder`."""
        return self.files.get(os.path.normpath(os.path.join(folder, path)))

    @cached_property
    def by_path(self) -> dict[str, DeployFile]:
        """The files by the paths that they are shown with."""
        return {file.path: file for file in self.files.values()}

    def of_kind(self, *kinds: Kind) -> list[DeployFile]:
        """The files of these kinds, in the order of their paths."""
        if kinds not in self._of_kinds:
            self._of_kinds[kinds] = [file for file in self.files.values() if file.kind in kinds]
        return self._of_kinds[kinds]

    def called(self, name: str, kind: Kind) -> list[DeployFile]:
        """The files of a kind that have this name in whatever folder, in the order of their paths."""
        if kind not in self._called:
            found = self._called[kind] = {}
            for file in self.of_kind(kind):
                found.setdefault(file.name, []).append(file)
        return self._called[kind].get(name, [])

    def read_aside(self, path: str, folder: str) -> str | None:
        """The text of a small file that a launcher reads, such as `.env`; None outside of the project's root."""
        written = os.path.join(folder, path)
        try:
            if not os.path.isfile(written) or os.path.getsize(written) > _LARGEST_ASIDE:
                return None
            if not os.path.realpath(written).startswith(os.path.realpath(self.root).rstrip(os.sep) + os.sep):
                return None
            with open(written, encoding="utf-8", errors="replace") as stream:
                return stream.read()
        except (OSError, ValueError):
            return None

    # What they say

    @cached_property
    def workloads(self) -> list[Workload]:
        """Everything that runs a container, in the order of the files; one place is one workload."""
        found = {(workload.path, workload.at): workload for workload in self._workloads()}
        stand_ins = [workload for workload in found.values() if workload.stands_for is not None]
        workloads = [workload for workload in found.values() if workload.stands_for is None]
        for stand_in in stand_ins:
            self._hand_over(stand_in, workloads)
        return workloads

    def _hand_over(self, stand_in: Workload, workloads: list[Workload]) -> None:
        """Give the flaws of a stand-in to the container that it stands for, unless that is given what it needs."""
        from dllint.deploy.workload import ShmSource

        files, name = stand_in.stands_for or ((), "")
        paths = {self.files[file].path for file in files if file in self.files}
        for workload in workloads:
            if workload.path in paths and workload.name == name and workload.shm.source is ShmSource.DEFAULT:
                workload.flaws += stand_in.flaws

    def _workloads(self) -> Iterator[Workload]:
        for file in self.files.values():
            for front_end in FRONT_ENDS:
                if front_end.may_read(file):
                    yield from self._found(front_end.find(file, self), file)
        for code_front_end in CODE_FRONT_ENDS:
            yield from code_front_end.find(self)
        yield from find_in_cells(self)

    def _found(self, workloads: Iterator[Workload], file: DeployFile) -> Iterator[Workload]:
        try:
            yield from workloads
        except CannotParseError as error:
            self.errors.setdefault(file.absolute, error)

    def unreadable(self) -> Iterator[Unreadable]:
        """The files that are recognisably a launcher's and that cannot be parsed."""
        if self._may_train:
            _ = self.workloads
        else:
            self._look_for_broken_files()
        for absolute, error in self.errors.items():
            if self.files[absolute].is_target:
                yield Unreadable(self.files[absolute].path, error.row, error.column, error.reason)

    def _look_for_broken_files(self) -> None:
        for file in filter(prospects.may_be_broken, self.files.values()):
            for front_end in FRONT_ENDS:
                if front_end.may_read(file):
                    deque(self._found(front_end.find(file, self), file), maxlen=0)

    @cached_property
    def _may_train(self) -> bool:
        return prospects.may_train(self)

    @cached_property
    def trainings(self) -> list[Training]:
        """The workloads that train with torch."""
        if not self._may_train or not self.workloads:
            return []
        from dllint.deploy import evidence

        found = (evidence.training(workload, self) for workload in self.workloads)
        return [training for training in found if training is not None]

    def loaders_of(self, script: Module) -> list[Loader]:
        """The loaders in a script and in the modules that it imports, directly or not; those that only a module builds
        which it does not import, or where that is run itself, or in a function that none of them calls, are none of its
        own."""
        if script not in self._loaders:
            from dllint.deploy.hooks import Hooks
            from dllint.deploy.reached import called, is_never_called, is_of_another_run

            reached, hooks = self.reached_from(script), self.shared(Hooks)
            built = (one for module in reached for one in self._loaders_by_module.get(module, ()))
            found = (loader for _, loader in sorted(built, key=itemgetter(0)) if loader.callers <= reached)
            own = (loader for loader in found if not is_of_another_run(loader, script, reached))
            own = (loader for loader in own if not is_never_called(loader, script, reached))
            self._loaders[script] = called([loader for loader in own if hooks.are_asked(loader, script)])
        return self._loaders[script]

    @cached_property
    def _loaders_by_module(self) -> dict[Module, list[tuple[int, Loader]]]:
        """The loaders that each module builds, with their places among all."""
        found: dict[Module, list[tuple[int, Loader]]] = {}
        for number, loader in enumerate(self.program.loaders):
            found.setdefault(loader.module, []).append((number, loader))
        return found

    def reached_from(self, script: Module) -> set[Module]:
        """A script, and what it imports, directly or not, of what leads to loaders."""
        return self._to_loaders.reached_from(script)

    @cached_property
    def _to_loaders(self) -> Imports:
        return Imports(self.program, {module for loader in self.program.loaders for module in loader.callers})

    def use(self, scripts: Iterable[Module], modules: Collection[Module]) -> bool:
        """Whether a script imports one of some modules, directly or not."""
        imports = Imports(self.program, modules)
        return any(not imports.reached_from(script).isdisjoint(modules) for script in scripts)
