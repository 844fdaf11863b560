"""Datasets: project classes whose methods run in workers, with the loaders that read them and what they carry along."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language import classes
from dllint.code.language.modules import Module
from dllint.code.language.scopes import ClassScope
from dllint.code.language.values import ClassRef, Collection, Derived, Frame, Instance, Product, Unknown, Value
from dllint.code.loaders import finding as loaders
from dllint.code.loaders import iterations
from dllint.code.loaders.hanging import has_workers_for_some, keys_of
from dllint.code.loaders.loader import Loader
from dllint.code.processes import start_method
from dllint.code.workers import pipelines, state
from dllint.code.workers.entries import WORKER_METHODS, entries_of_class, entries_of_values
from dllint.code.workers.reach import WorkerCode
from dllint.code.workers.state import Item
from dllint.finding import Location, Related

if TYPE_CHECKING:
    from dllint.code.program import Program


class Dataset:
    """One dataset class of the project."""

    def __init__(self, program: Program, cls: ClassScope, loaders: list[Loader]) -> None:
        self.program = program
        self.cls = cls
        self.loaders = loaders

    @property
    def module(self) -> Module:
        """The module that defines it."""
        return self.cls.module

    @property
    def path(self) -> str:
        """The file that defines it."""
        return self.module.path

    @property
    def name(self) -> str:
        """The name of its class."""
        return self.cls.name

    @property
    def symbol(self) -> str:
        """The dotted name of its class within the module."""
        return self.cls.qualname

    @property
    def location(self) -> Location:
        """Where its class statement stands."""
        return self.module.location(self.cls.node)

    @cached_property
    def is_iterable(self) -> bool:
        """Whether it is an IterableDataset."""
        return any(base in apis.ITERABLE_BASES for base in classes.external_bases(self.program.evaluator, self.cls))

    @property
    def runs_in_main(self) -> bool:
        """Whether every loader that is seen to read it has no workers: then nothing of it runs in a worker.

        Of a dataset that no loader is seen to read, each loader may be the one of which it is not seen what it reads;
        if there is none of these, every loader of the project. Tests try out without workers what others use with some.
        """
        facts = self.program.facts
        if not self.loaders and self._goes_through_loader:
            return True
        readers = self.loaders or self._in_earnest(facts.open_readers) or self._in_earnest(facts.loaders)
        return bool(readers) and all(loader.has_no_workers for loader in readers)

    @cached_property
    def _goes_through_loader(self) -> bool:
        """Whether it hands on the batches of a loader that it is given: a prefetcher, which main goes through."""
        method = classes.method(self.program.evaluator, self.cls, "__iter__") if self.is_iterable else None
        if method is None:
            return False
        found = iterations.in_function(self.program, method)
        return any(getattr(one.loader.frame.scope, "owner", None) is not self.cls for one in found)

    def _in_earnest(self, readers: list[Loader]) -> list[Loader]:
        return [reader for reader in readers if not _is_trial(self.cls, reader)]

    @cached_property
    def working_loaders(self) -> list[Loader]:
        """The loaders over it that may have workers."""
        return [loader for loader in self.loaders if not loader.has_no_workers]

    @cached_property
    def start_methods(self) -> frozenset[str]:
        """The methods by which workers that read it may be started."""
        if not self.working_loaders:
            return self.program.facts.unseen_start_methods or start_method.of_scope(self.program, self.cls)
        return frozenset().union(*(start_method.of_loader(self.program, loader) for loader in self.working_loaders))

    @property
    def may_pickle(self) -> bool:
        """Whether it may be pickled for its workers."""
        return bool(self.start_methods & start_method.PICKLING)

    @cached_property
    def worker(self) -> WorkerCode:
        """The code that workers run for it: its methods, and the collate_fn and worker_init_fn of its loaders."""
        entries = entries_of_class(self.program, self.cls, f"dataset {self.name}")
        for loader in self.working_loaders:
            for name, argument in loader.worker_callables():
                entries += entries_of_values(self.program, argument.values(self.program.evaluator), name)
        return WorkerCode(self.program, entries)

    @cached_property
    def items(self) -> list[Item]:
        """All that it carries into the workers."""
        return carried(self.program, self.instances)

    @cached_property
    def instances(self) -> list[Instance]:
        """The constructions of it that a loader with workers reads; one unknown one if none is seen."""
        seen = {v.key: v for loader in self.working_loaders for v in read_by(self.program, loader) if v.cls is self.cls}
        return list(seen.values()) or [Instance(self.cls)]

    def loader_related(self) -> list[Related]:
        """The loader that starts its workers, where one is seen."""
        best = sorted(self.working_loaders, key=lambda loader: not loader.has_workers)
        return [best[0].related()] if best else []


def carried(program: Program, objects: Iterable[Instance]) -> list[Item]:
    """All that some objects carry into the workers, each value once, whatever number of calls made the objects."""
    found: dict[object, Item] = {}
    for value in objects:
        for item in state.items(program, value):
            found.setdefault((item.value.key, item.attribute, item.owner), item)
    return list(found.values())


def parts(program: Program, value: Value, depth: int = 0) -> Iterator[Value]:
    """A dataset, and the datasets that a library's wrapper around it reads: `Subset`, `random_split`."""
    yield value
    if depth > 5:
        return
    if isinstance(value, Product) and apis.wraps_datasets(value.name):
        for argument in value.node.args[:1]:
            for inner in program.evaluator.values(argument, value.frame):
                yield from parts(program, inner, depth + 1)
                yield from (part for one in _listed(program, inner) for part in parts(program, one, depth + 1))
    elif isinstance(value, Derived) and value.via in ("[]", "each"):
        yield from parts(program, value.base, depth + 1)


def _listed(program: Program, value: Value) -> Iterator[Value]:
    """The datasets of a list that a wrapper is given: `ConcatDataset([train, test])`."""
    if isinstance(value, Collection) and value.kind in ("list", "tuple"):
        yield from value.each or ()
        yield from (inner for item in value.items[:20] for inner in program.evaluator.values(item, value.frame))


def read_by(program: Program, loader: Loader) -> list[Instance]:
    """The objects of project classes that a loader reads: its dataset, and the datasets within that."""
    memo = program.facts.read_by_memo
    if id(loader) not in memo:
        found: dict[tuple[object, ...], Instance] = {}
        for value in (*loader.dataset_values(), *pipelines.datasets(program, loader)):
            for instance in _read(program, value, 0, set()):
                if is_dataset_class(program, instance.cls) or _looks_like_dataset(program, instance.cls):
                    found.setdefault(instance.key, instance)
        memo[id(loader)] = list(found.values())
    return memo[id(loader)]


def sampled_by(program: Program, loader: Loader) -> list[Instance]:
    """The objects whose own `__getitem__` gives a loader its samples: not those that another project class wraps."""
    found: dict[tuple[object, ...], Instance] = {}
    pending = list(loader.dataset_values())
    for _ in range(_MOST_WRAPPED):
        if not pending:
            break
        value = pending.pop()
        if isinstance(value, Instance):
            found[value.key] = value
        else:
            pending += _within(program, value)
    return list(found.values())


_MOST_WRAPPED = 60
"""Values in library wrappers that are looked into."""


def _read(program: Program, value: Value, depth: int, seen: set[object]) -> Iterator[Instance]:
    if depth > 5 or value.key in seen:
        return
    seen.add(value.key)
    if isinstance(value, Instance):
        yield value
        for item in state.items(program, value):
            if isinstance(item.value, Instance) and is_dataset_class(program, item.value.cls):
                yield item.value
    else:
        for inner in _within(program, value):
            yield from _read(program, inner, depth + 1, seen)


def _within(program: Program, value: Value) -> Iterator[Value]:
    """The values in a collection, in a library's wrapper, or before the steps that lead to a value."""
    ev = program.evaluator
    if isinstance(value, Collection):
        groups = [value.each] if value.each is not None else [ev.values(i, value.frame) for i in value.items[:20]]
        for group in groups:
            yield from group
    elif isinstance(value, Product) and (apis.wraps_datasets(value.name) or value.name in apis.DATASET_BASES):
        for argument in [*value.node.args, *(k.value for k in value.node.keywords)]:
            yield from ev.values(argument, value.frame)
    elif isinstance(value, Derived) and not _is_part(value):
        yield value.base


def _is_part(value: Derived) -> bool:
    """Whether it is what a loop over a project's object meets, or an attribute of it: that is not the object."""
    is_attribute = value.via.startswith(".") and not value.via.endswith("()")
    return isinstance(value.base, Instance) and (is_attribute or value.via == "each")


def may_read_unseen(program: Program, loader: Loader) -> bool:
    """Whether a loader may read other datasets than those that are seen: what it is given is not known, or what that
    wraps."""
    pending = list(loader.dataset_values())
    seen: set[object] = set()
    while pending and len(seen) < _MOST_WRAPPED:
        value = pending.pop()
        if value.key in seen:
            continue
        seen.add(value.key)
        if isinstance(value, Unknown) or (isinstance(value, Collection) and not value.items and not value.each):
            return True
        pending += _wrapped(program, value) if isinstance(value, Instance) else _within(program, value)
    return False


def _wrapped(program: Program, value: Instance) -> Iterator[Value]:
    """What an object of a project's `ConcatDataset` or `Subset` is made of."""
    if isinstance(value.node, ast.Call) and any(map(apis.wraps_datasets, _library_bases(program, value))):
        for argument in value.node.args[:1]:
            yield from program.evaluator.values(argument, value.frame) if value.frame is not None else ()


def _library_bases(program: Program, value: Instance) -> Iterator[str]:
    return classes.external_bases(program.evaluator, value.cls)


def is_dataset_class(program: Program, cls: ClassScope) -> bool:
    """Whether a class derives from a library's dataset class, or from one that the settings name."""
    names = set(classes.external_bases(program.evaluator, cls))
    if names & apis.NOT_DATASETS:
        return False
    if names & apis.DATASET_BASES or names & set(program.settings.dataset_bases):
        return True
    wanted = {name.rpartition(".")[2] for name in program.settings.dataset_bases}
    return any(base.name in wanted for base in classes.project_mro(program.evaluator, cls))


def find(program: Program) -> list[Dataset]:
    """All datasets of a program: by their bases, and duck-typed classes that a loader is given."""
    by_class: dict[ClassScope, Iterable[Loader]] = {}
    for module in program.parsed_seeds:
        names = program.facts.dataset_class_names
        for cls in module.classes:
            if cls.name in names and is_dataset_class(program, cls):
                by_class[cls] = ()
    by_class |= _readers(program)
    if any(not r.has_no_workers and not r.module.is_test for r in program.facts.open_readers):
        by_class |= {cls: () for cls in _by_their_looks(program) if cls not in by_class}
    tried = {cls: [r for r in readers if not _is_trial(cls, r)] for cls, readers in by_class.items()}
    surely = {cls: _surely_reading(program, readers) for cls, readers in tried.items()}
    elsewhere = _read_by_others(program) if any(not readers for readers in surely.values()) else set()
    return [Dataset(program, cls, readers) for cls, readers in surely.items() if readers or cls not in elsewhere]


def _readers(program: Program) -> dict[ClassScope, dict[Loader, None]]:
    """The loaders that read each dataset class, each once."""
    found: dict[ClassScope, dict[Loader, None]] = {}
    for loader in program.facts.loaders:
        for value in read_by(program, loader):
            found.setdefault(value.cls, {})[loader] = None
    return found


def _surely_reading(program: Program, readers: list[Loader]) -> list[Loader]:
    """Of what reads a dataset, without loaders that have workers, as far as can be seen, for another of the datasets
    that they choose from, where one without any reads it, too."""
    idle = {reader for reader in readers if reader.has_no_workers}
    return [r for r in readers if not idle or r in idle or not _may_read_another(program, r, idle)]


def _may_read_another(program: Program, reader: Loader, idle: AbstractSet[Loader]) -> bool:
    """Whether a loader reads one of several datasets: with workers for some alone, or by a name of its own, where the
    others all choose from the same ones by another name."""
    choice = {value.cls for value in read_by(program, reader)}
    if len(choice) == 1:
        return False
    keys = keys_of(reader)
    same = all({value.cls for value in read_by(program, other)} == choice for other in idle)
    return has_workers_for_some(reader) or (same and bool(keys) and not any(keys & keys_of(other) for other in idle))


def _is_trial(cls: ClassScope, reader: Loader) -> bool:
    """Whether a loader only tries a dataset out, in a test and without workers: not the one that it is made for."""
    return reader.has_no_workers and not cls.module.is_test and _is_made_for_a_test(reader)


def _is_made_for_a_test(reader: Loader) -> bool:
    at: Frame | None = reader.frame
    while at is not None:
        if at.scope.module.is_test:
            return True
        at = at.caller
    return False


_OTHER_FRAMEWORKS = (b"tensorflow", b"keras", b"paddle", b"mxnet", b"mindspore", b"jax")


def _by_their_looks(program: Program) -> Iterator[ClassScope]:
    """Classes that are called a dataset and can be indexed, with no base of a library: a registry may make them."""
    for module in program.parsed_seeds:
        if not module.has(b"__getitem__") or module.is_test or any(map(module.holds, _OTHER_FRAMEWORKS)):
            continue
        for cls in module.classes:
            if cls.name.endswith("Dataset") and _is_indexed(program, cls):
                yield cls


def _is_indexed(program: Program, cls: ClassScope) -> bool:
    ev = program.evaluator
    plain = all(name.startswith(_PLAIN_BASES) for name in classes.external_bases(ev, cls))
    return plain and all(classes.method(ev, cls, name) is not None for name in ("__getitem__", "__len__"))


def _read_by_others(program: Program) -> set[ClassScope]:
    """The classes whose objects go into a loader of the project's own making, which is none of torch's."""
    found: set[ClassScope] = set()
    ev = program.evaluator
    for module in program.parsed_seeds:
        for name in [n for n in module.scope.bindings if n.endswith("Loader")]:
            for call, scope in module.calls_of(name):
                frame = Frame(scope)
                for maker in ev.values(call.func, frame):
                    if not isinstance(maker, ClassRef) or loaders.is_loader(program, Instance(maker.cls)):
                        continue
                    given = [v for argument in call.args[:1] for v in ev.values(argument, frame)]
                    found |= {v.cls for v in given if isinstance(v, Instance)}
    return found


_PLAIN_BASES = ("abc.", "builtins.", "collections.abc.", "typing.")
"""Where bases come from that make no class iterable for torch."""


def _looks_like_dataset(program: Program, cls: ClassScope) -> bool:
    """Whether a loader can read an object of this class. Only an IterableDataset is iterated over, all else indexed."""
    names = [name for name in WORKER_METHODS if classes.method(program.evaluator, cls, name) and name != "__len__"]
    if all(name.startswith(_PLAIN_BASES) for name in classes.external_bases(program.evaluator, cls)):
        return any(name in ("__getitem__", "__getitems__") for name in names)
    return bool(names)
