"""One project as a program: its modules, its classes, who calls whom. Rules get their subjects from here."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from dllint.code.language import watched
from dllint.code.language.importing import Importing, imported_modules
from dllint.code.language.mentions import Mentions
from dllint.code.language.module_table import ModuleTable
from dllint.code.language.modules import Module
from dllint.code.language.outlines import Outline, defined_names, outlines
from dllint.code.loaders.pins import NO_PINS, Pins
from dllint.code.unreadable import Unreadable, in_modules
from dllint.files import Kind, Project, SourceFile
from dllint.parallel import shares
from dllint.patterns import pattern
from dllint.settings import Settings
from dllint.syntax.python import Data, Source

if TYPE_CHECKING:
    from dllint.code.facts import Facts
    from dllint.code.language import classes
    from dllint.code.language.callers import Callers
    from dllint.code.language.evaluator import Evaluator
    from dllint.code.language.hydra_configs import HydraConfig
    from dllint.code.language.members import Members
    from dllint.code.language.scopes import ClassScope, FunctionScope, Scope
    from dllint.code.language.stored_by_text import ByText
    from dllint.code.language.values import Frame
    from dllint.code.loaders.loader import Loader

_FEW = 4
"""Targets that are less than one in so many files are few: what has nothing to do with them is left out."""
_WORD = pattern(rb"\w+")
_SPEAKS_OF_LOADERS = (b"DataLoader", b"num_workers")
"""What a config of Hydra says that makes a loader, or gives its arguments to what does."""
_MANY_FILES = 400
"""So many are outlined by several processes."""
_LONGEST_SCRIPT = 50_000


class Program:
    """What one project's Python code means."""

    def __init__(self, project: Project, settings: Settings) -> None:
        self.settings = settings
        self.unreadable: list[Unreadable] = []
        self.explicit: set[str] = {f.path for f in project.files if f.explicit}
        self.modules = ModuleTable.build(project.root, list(self._read(project)), _module_type)
        self._importing = Importing(self.modules.by_file.values())
        self._with_texts: dict[tuple[str, ...], list[Module]] = {}
        self.stored_by_text_memo: list[ByText] | None = None
        self.method_stores_memo: dict[tuple[Module, str], list[tuple[ast.expr, ast.expr, Scope]]] = {}
        self._torches: dict[Module, Pins] = {}
        self._pythons: dict[Module, Pins] = {}
        self._imports: dict[Module, tuple[Module, ...]] = {}
        self.bases_memo: dict[ClassScope, tuple[classes.Base, ...]] = {}
        self.mro_memo: dict[ClassScope, tuple[classes.Base, ...]] = {}
        self.methods_memo: dict[tuple[ClassScope, str, ClassScope | None], FunctionScope | None] = {}
        self.config_files: dict[str, Module | None] = {}
        """The config files that its code reads: see `config_files`."""
        self.hydra_configs: dict[str, HydraConfig | None] = {}
        """The configs that Hydra puts together for it: see `hydra_configs`."""
        self._pins: dict[str, Pins] = {}

    # What a project without Python need not even import

    @cached_property
    def evaluator(self) -> Evaluator:
        """What the expressions of the program mean."""
        from dllint.code.language.evaluator import Evaluator

        return Evaluator(self)

    @cached_property
    def members(self) -> Members:
        """What the names of modules mean to those who import them."""
        from dllint.code.language.members import Members

        return Members(self)

    @cached_property
    def _callers(self) -> Callers:
        from dllint.code.language.callers import Callers

        return Callers(self)

    def _read(self, project: Project) -> Iterator[tuple[SourceFile, Data, Outline | None]]:
        known = self._outlines([file for file in project.files if file.kind is Kind.PYTHON and file.data is None])
        for file in project.files:
            outlined = known.get(file.path)
            if outlined is not None:
                yield file, _reader(file), outlined
                continue
            try:
                data = file.read()
            except OSError as error:
                if file.target:
                    self.unreadable.append(Unreadable(file.path, 1, 1, error.strerror or "cannot be read"))
                continue
            if file.kind in (Kind.PYTHON, Kind.NOTEBOOK) or is_config(file, data):
                yield file, data, None

    def _outlines(self, files: list[SourceFile]) -> dict[str, Outline | None]:
        """What is known of many files before one of them is looked into: where all are asked for, all are searched."""
        if len(files) < _MANY_FILES or sum(file.target for file in files) * _FEW < len(files):
            return {}
        found = outlines([file.absolute for file in files], shares(self.settings.jobs))
        return {file.path: known for file, known in zip(files, found, strict=True)}

    def pins_of(self, module: Module) -> Pins:
        """The versions that are pinned for a module: by the nearest folder that pins torch, up to the root."""
        if module not in self._torches:
            around = self._pins_around(module.absolute)
            self._torches[module] = next((pins for pins in around if pins.ranges), NO_PINS)
        return self._torches[module]

    def pythons_of(self, module: Module) -> Pins:
        """The same, by the nearest folder that says which Python the code runs on, or which torch."""
        if module not in self._pythons:
            around = self._pins_around(module.absolute)
            self._pythons[module] = next((pins for pins in around if pins.pythons or pins.ranges), NO_PINS)
        return self._pythons[module]

    def _pins_around(self, path: str) -> Iterator[Pins]:
        folder = os.path.dirname(path)
        while True:
            if folder not in self._pins:
                self._pins[folder] = Pins.read(folder)
            yield self._pins[folder]
            above = os.path.dirname(folder)
            if folder in (self.modules.root, above):
                return
            folder = above

    # Modules

    def give_tree(self, absolute: str, tree: ast.Module) -> None:
        """Take the tree of a file from whoever has parsed it already; before anything is asked."""
        module = self.modules.by_file.get(absolute)
        if module is not None:
            module.parsed = tree

    @cached_property
    def seeds(self) -> list[Module]:
        """The modules that may build a loader or define a dataset."""
        modules = self.modules.by_file.values()
        names = self.dataset_names if modules else ()
        return [m for m in modules if _speaks_of_data(m) or any(name in names for name, _ in m.class_bases)]

    @property
    def targets(self) -> list[Module]:
        """The modules that findings are reported in."""
        return [module for module in self.modules.by_file.values() if module.is_target]

    def leave_out_far(self) -> None:
        """Forget the modules that no imports join with the targets, where the targets are few. Before all else.

        Not for a program that containers run: nothing imports their scripts.
        """
        targets = self.targets
        if len(targets) * _FEW <= len(self.modules.by_file):
            self.modules.keep(self._importing.around(targets))
            self._importing = Importing(self.modules.by_file.values())

    @cached_property
    def dataset_names(self) -> set[str]:
        """Names of the classes that derive from a dataset class, as far as names tell."""
        from dllint.code.apis import DATASET_BASES

        return self.names_derived_from(DATASET_BASES | set(self.settings.dataset_bases))

    def names_derived_from(self, bases: Iterable[str]) -> set[str]:
        """The names of the project's classes that derive from one of these, directly or not, as far as names tell."""
        return _closure({name.rpartition(".")[2] for name in bases}, self._derived_names)

    @cached_property
    def _derived_names(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for module in self.modules.by_file.values():
            for name, base_names in module.class_bases:
                for base in base_names:
                    found.setdefault(base, []).append(name)
        return found

    @cached_property
    def defined_names(self) -> set[str]:
        """The names of all functions and methods that the project defines, `__call__` and `forward` included."""
        found: set[bytes] = set()
        for module in self.modules.by_file.values():
            found.update(defined_names(module.data))
        return {name.decode("ascii", "replace") for name in found}

    @cached_property
    def parsed_seeds(self) -> list[Module]:
        """The seeds, read as trees; those that cannot be are reported."""
        return [module for module in self.seeds if module.is_sound]

    @cached_property
    def script_modules(self) -> list[Module]:
        """The modules that may be run as programs: seeds, and short scripts that call into them or their importers."""
        seeds = [module for module in self.parsed_seeds if not module.is_package]
        known = set(seeds)
        others = [m for m in self.modules.by_file.values() if m not in known and not self.modules.in_package(m)]
        short = [m for m in others if m.outline.size < _LONGEST_SCRIPT and b"__main__" not in m.data]
        return seeds + self._leading_to_seeds(short)

    def _leading_to_seeds(self, modules: list[Module]) -> list[Module]:
        """Those that name a seed, or import a module that imports one; and those that start processes of torch."""
        if not modules:
            return []
        names = {part.encode("utf-8", "surrogateescape") for m in self.seeds for part in m.name.split(".")}
        importing = self._importing.importing
        callers = {caller for seed in self.seeds for user in importing(seed) for caller in importing(user)}
        return [
            module
            for module in modules
            if module in callers
            or any(name in module.data for name in names)
            or (b"multiprocessing" in module.data and b"torch" in module.data)
            or b"ultralytics" in module.data
        ]

    def is_imported(self, module: Module) -> bool:
        """Whether another module of the project imports this one: by its last name, and by where that leads."""
        return any(module in self.imports_of(other) for other in self._importing.importing(module))

    def imports_of(self, module: Module) -> tuple[Module, ...]:
        """The modules of the project that the import statements of a module mean, packages on their way too."""
        if module not in self._imports:
            self._imports[module] = tuple(dict.fromkeys(imported_modules(self.modules, module)))
        return self._imports[module]

    def importers(self, module: Module) -> list[Module]:
        """The module, and those that import it, directly or not, as far as last names tell."""
        return self._importing.importers(module)

    def running_with(self, own: Collection[Module], others: Collection[Module]) -> list[Module]:
        """Those of other modules that may run in one process with all of some: see `Importing.running_with`."""
        return self._importing.running_with(own, others)

    def imported_by(self, module: Module) -> Iterator[Module]:
        """The modules of the project that a module imports, as far as last names tell."""
        return self._importing.imported_by(module)

    @cached_property
    def mentions(self) -> Mentions:
        """Which modules hold which words."""
        return Mentions(self.modules.by_file.values())

    def modules_with(self, *texts: str) -> list[Module]:
        """The modules that hold all these texts, each from a whole word to a whole word; asked again and again, they
        are looked for once."""
        if texts not in self._with_texts:
            sought = [text.encode() for text in texts]
            holders = [self.mentions.of(word) for text in sought for word in _WORD.findall(text)]
            common = set(holders[0]).intersection(*holders[1:])
            longer = [text for text in sought if not _WORD.fullmatch(text)]
            found = [m for m in holders[0] if m in common and all(m.has(text) for text in longer)]
            self._with_texts[texts] = found
        return self._with_texts[texts]

    def source(self, path: str) -> Source | None:
        """The text of a file by the path that it is shown with."""
        module = self._by_path.get(path)
        return module.source if module is not None else None

    @cached_property
    def _by_path(self) -> dict[str, Module]:
        return {module.path: module for module in reversed(self.modules.by_file.values())}

    # Calls

    def call_sites(self, scope: FunctionScope) -> list[tuple[ast.Call, Frame]]:
        """The calls in the project that enter a function, each with the frame that it is made in."""
        return self._callers.of(scope)

    def subclasses_of(self, cls: ClassScope) -> list[ClassScope]:
        """The classes of the project that derive from a class directly; in a large project those of its seeds."""
        return self._callers.subclasses(cls)

    # Subjects

    @property
    def size(self) -> int:
        """Bytes of the modules that may matter."""
        return sum(module.outline.size for module in self.seeds)

    def prepare(self) -> None:
        """Find the loaders and the datasets: what all subjects share."""
        _ = self.facts.worker_entries if self.modules.by_file else ()

    def subjects(self, kind: str) -> Iterable[Any]:
        """All subjects of a rule whose check takes an object of the class `kind`."""
        if not self.modules.by_file:
            return self.unreadable if kind == Unreadable.__name__ else ()
        if kind in _KNOWN:
            return _KNOWN[kind](self)
        found: Iterable[Any] = import_module(f"dllint.code.{_SEARCHED[kind]}").find(self)
        return found

    @cached_property
    def facts(self) -> Facts:
        """The loaders, datasets and worker code."""
        from dllint.code.facts import Facts

        return Facts(self)

    @property
    def loaders(self) -> list[Loader]:
        """The constructions of loaders; what they are is not even imported where there is no Python."""
        return self.facts.loaders if self.modules.by_file else []


def _reader(file: SourceFile) -> Callable[[], bytes]:
    """Reads a file that could be read a moment ago; nothing, if it has gone since."""

    def read() -> bytes:
        try:
            return file.read()
        except OSError:
            return b""

    return read


def _speaks_of_data(module: Module) -> bool:
    return not watched.DATA.isdisjoint(module.outline.held)


def is_config(file: SourceFile, data: bytes) -> bool:
    """Whether it is a YAML file that can hold the call of a loader, as Hydra writes one."""
    return file.kind is Kind.YAML and b"_target_" in data and any(word in data for word in _SPEAKS_OF_LOADERS)


def _module_type(path: str) -> type[Module]:
    """How a file is read: YAML and JSON are only imported for a file that needs them."""
    if path.endswith(".ipynb"):
        from dllint.code.processes.notebooks import NotebookModule

        return NotebookModule
    if not path.endswith((".yaml", ".yml")):
        return Module
    from dllint.code.loaders.hydra import ConfigModule

    return ConfigModule


def _closure(roots: set[str], derived: dict[str, list[str]]) -> set[str]:
    """The roots and all names that `derived` leads to from them."""
    found: set[str] = set()
    pending = list(roots)
    while pending:
        name = pending.pop()
        for child in derived.get(name, ()):
            if child not in found:
                found.add(child)
                pending.append(child)
    return found


_KNOWN: dict[str, Callable[[Program], Iterable[Any]]] = {
    "Unreadable": in_modules,
    "Program": lambda program: [program],
    "Module": lambda program: [m for m in program.parsed_seeds if m.is_target],
    "Loader": lambda program: program.loaders,
    "Dataset": lambda program: program.facts.datasets,
    "WorkerEntry": lambda program: program.facts.worker_entries,
}
_SEARCHED = {
    "Fetch": "workers.fetching",
    "Script": "processes.scripts",
    "StartMethodCall": "processes.start_calls",
    "Carried": "processes.pickling",
    "Childless": "processes.nested",
    "Launch": "tensors.forked_ranks",
}
"""The modules whose `find` looks for subjects of these classes in a program."""
