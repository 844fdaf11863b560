"""The facts of a program that several rules ask for, each computed once."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language.callables import callables, innermost
from dllint.code.language.links import parent
from dllint.code.language.modules import Module
from dllint.code.language.scopes import ClassScope, FunctionScope, Scope
from dllint.code.language.values import Frame, Function, Instance, Product, Unknown, Value
from dllint.code.loaders import finding as loaders
from dllint.code.loaders import iterations
from dllint.code.loaders.configs import is_config
from dllint.code.loaders.iterations import Iteration, Repetition
from dllint.code.loaders.lightning import Lightning
from dllint.code.loaders.loader import Loader
from dllint.code.processes import start_method, tokenizers
from dllint.code.tensors import default_device, descriptors
from dllint.code.workers import datasets, in_worker, pipelines, state
from dllint.code.workers.datasets import Dataset
from dllint.code.workers.entries import entries_of_values
from dllint.code.workers.making import Held
from dllint.code.workers.reach import Step, WorkerCode
from dllint.code.workers.state import Item
from dllint.code.workers.variation import Variation
from dllint.finding import Related

if TYPE_CHECKING:
    from dllint.code.handles.shared_names import ClassHandles, Shared
    from dllint.code.language.lines import ByLine
    from dllint.code.language.replaced import Replacement
    from dllint.code.language.stores import Store
    from dllint.code.processes.scripts import Start
    from dllint.code.processes.threads import Threaded
    from dllint.code.program import Program
    from dllint.code.tensors.default_device import Default
    from dllint.code.tensors.devices import Transfer
    from dllint.code.tensors.sharing import Setting


class WorkerEntry:
    """The code that workers run for one entry: a dataset's methods, or a function handed to a loader."""

    def __init__(self, program: Program, subject: Dataset | Loader, steps: Sequence[Step] = ()) -> None:
        self.program = program
        self.path = subject.path
        self.dataset = subject if isinstance(subject, Dataset) else None
        self.loaders = subject.working_loaders if isinstance(subject, Dataset) else [subject]
        self._steps = steps

    @cached_property
    def code(self) -> WorkerCode:
        """All functions that are reached from it."""
        return self.dataset.worker if self.dataset is not None else WorkerCode(self.program, self._steps)

    @cached_property
    def variation(self) -> Variation:
        """Which expressions of its worker code change with the item, and which stay the same."""
        return Variation(self.program, self.code)

    @property
    def start_methods(self) -> frozenset[str]:
        """The methods by which its workers may be started."""
        if self.dataset is not None:
            return self.dataset.start_methods
        return start_method.of_loader(self.program, self.loaders[0])

    @property
    def name(self) -> str:
        """What the entry is, for messages."""
        return self.dataset.name if self.dataset is not None else "what the loader is given"

    @property
    def may_fork(self) -> bool:
        """Whether its workers may be forked."""
        return "fork" in self.start_methods

    @property
    def may_pickle(self) -> bool:
        """Whether what it carries may be pickled for its workers."""
        return bool(self.start_methods & start_method.PICKLING)

    @property
    def may_have_readers(self) -> bool:
        """Whether a loader with workers reads it, or one may of which it cannot be seen what it reads."""
        if self.loaders:
            return True
        return any(not reader.has_no_workers for reader in self.program.facts.open_readers)

    @cached_property
    def items(self) -> list[Item]:
        """All that it carries into the workers: on the dataset, and on the objects that its loaders call there."""
        own = self.dataset.instances if self.dataset is not None else []
        return datasets.carried(self.program, [*own, *self._called_objects()])

    def drops(self, item: Item) -> bool:
        """Whether what it carries is kept out of the pickle, by the object that holds it or by one around that."""
        return state.is_dropped(self.program, item)

    def plain_datasets(self) -> Iterator[Value]:
        """The lists and other plain values that its loaders read as their dataset."""
        if self.dataset is None:
            for loader in self.loaders:
                yield from loader.dataset_values()

    def picks_by_index(self, step: Step, node: ast.AST) -> bool:
        """Whether a container that worker code reads at `node` is indexed by the index of the item itself."""
        around = parent(node)
        return isinstance(around, ast.Subscript) and self.variation.is_index(around.slice, step)

    def _called_objects(self) -> Iterator[Instance]:
        for loader in self.loaders:
            for _, argument in loader.worker_callables():
                for value in argument.values(self.program.evaluator):
                    target = innermost(value)
                    if isinstance(target, Instance):
                        yield target
                    elif isinstance(target, Function) and isinstance(target.receiver, Instance):
                        yield target.receiver
        for value in self.plain_datasets():
            # The transforms of a library's dataset; the project's own datasets have entries of their own.
            if not isinstance(value, Instance):
                yield from (inner for inner in callables(self.program, value) if isinstance(inner, Instance))

    def way(self, step: Step) -> list[Related]:
        """From the loader that starts the workers, where one is seen, to the function that `step` is."""
        best = sorted(self.loaders, key=lambda loader: not loader.has_workers)
        return [*([best[0].related()] if best else []), *step.way()]


class Facts:
    """Loaders, datasets and worker code of one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.onward_memo: dict[Frame, list[Step]] = {}
        self.items_memo: dict[tuple[object, int], tuple[Item, ...]] = {}
        self.kept_memo: dict[tuple[object, int], dict[str, list[Held]]] = {}
        self.drops_memo: dict[FunctionScope, tuple[bool, set[str], set[str]]] = {}
        self.by_line_memo: dict[Scope, tuple[ByLine[Store], ByLine[ast.Call]]] = {}
        self.replaced_memo: dict[Scope, tuple[Replacement, ...]] = {}
        self.starts_memo: dict[Frame, Start | None] = {}
        self.options_memo: dict[ast.expr, bool] = {}
        """Whether a test asks for an option for data in memory: see `asked_for.is_off`."""
        self.own_files_memo: dict[ClassScope, bool] = {}
        self.savers_memo: dict[FunctionScope, list[tuple[str, int]]] | None = None
        self.uses_memo: dict[tuple[Frame, frozenset[str]], list[tuple[ast.Call, str]]] = {}
        self.transfers_memo: dict[Frame, list[tuple[ast.Call, Transfer]]] = {}
        self.building_scopes: set[Scope] = set()
        """The functions that build loaders."""
        self.building_modules: set[Module] = set()
        self.class_handles_memo: dict[Module, ClassHandles] = {}
        self.shared_by_name_memo: dict[Module, dict[str, list[tuple[int, Shared]]]] = {}
        self.shared_names_memo: dict[Module, list[Shared]] = {}
        self.imported_names_memo: dict[Module, dict[str, Shared]] = {}
        self.sharing_memo: list[Setting] | None = None
        self.threads_memo: dict[Module, list[tuple[str, Threaded]]] = {}
        self.callables_memo: dict[tuple[object, ...], tuple[Value, ...]] = {}
        self.read_by_memo: dict[int, list[Instance]] = {}
        self._iterations: dict[Module, list[Iteration]] = {}
        self._by_loader: dict[Module, defaultdict[int, list[Iteration]]] = {}
        self._near: dict[Module, list[Module]] = {}
        self._repetitions: dict[int, list[Repetition]] = {}
        self._declared: dict[Module, frozenset[str]] = {}

    @cached_property
    def loader_class_names(self) -> set[str]:
        """The names of the classes that seem to derive from a loader."""
        return self.program.names_derived_from(apis.LOADER_WORDS)

    @cached_property
    def dataset_class_names(self) -> set[str]:
        """The names of the classes that seem to derive from a dataset."""
        return self.program.dataset_names

    @cached_property
    def loaders(self) -> list[Loader]:
        """All constructions of loaders."""
        return loaders.find(self.program)

    @cached_property
    def open_readers(self) -> list[Loader]:
        """The loaders that may read other datasets than those that they are seen to read."""
        return [loader for loader in self.loaders if datasets.may_read_unseen(self.program, loader)]

    @cached_property
    def iterations(self) -> list[Iteration]:
        """Where main goes through loaders that have workers."""
        modules: dict[int, Module] = {}
        for module in {id(one.module): one.module for one in self.loaders if one.has_workers}.values():
            modules |= {id(near): near for near in self._modules_near(module)}
        return [found for module in modules.values() for found in self._iterations_in(module)]

    def iterations_of(self, loader: Loader) -> list[Iteration]:
        """Where main goes through what this loader's construction makes."""
        made = id(loader.construction)
        found = [one for near in self._modules_near(loader.module) for one in self._iterations_by_loader(near)[made]]
        return [one for one in found if one.loader is loader or one.loader.may_be(loader)]

    def _iterations_by_loader(self, module: Module) -> dict[int, list[Iteration]]:
        if module not in self._by_loader:
            found = self._by_loader[module] = defaultdict(list)
            for one in self._iterations_in(module):
                found[id(one.loader.construction)].append(one)
        return self._by_loader[module]

    def _modules_near(self, module: Module) -> list[Module]:
        if module not in self._near:
            self._near[module] = iterations.modules_near(self.program, module)
        return self._near[module]

    def _iterations_in(self, module: Module) -> list[Iteration]:
        if module not in self._iterations:
            self._iterations[module] = list(iterations.find(self.program, module))
        return self._iterations[module]

    def repetitions_of(self, loader: Loader) -> list[Repetition]:
        """The loops that go through a loader again and again, as epoch loops do."""
        return [found for one in self.iterations_of(loader) for found in self._repetitions_of(one)]

    def _repetitions_of(self, iteration: Iteration) -> list[Repetition]:
        if id(iteration) not in self._repetitions:
            self._repetitions[id(iteration)] = list(iterations.repetitions(self.program, iteration))
        return self._repetitions[id(iteration)]

    @cached_property
    def has_room_for_descriptors(self) -> bool:
        """Whether the program shares tensors by files, or raises the limit of descriptors itself."""
        return descriptors.has_room(self.program)

    @cached_property
    def tokenizers_are_parallel(self) -> bool:
        """Whether the program has tokenizers use their threads in every process."""
        return tokenizers.are_parallel(self.program)

    @cached_property
    def datasets(self) -> list[Dataset]:
        """All dataset classes."""
        return datasets.find(self.program)

    @cached_property
    def process_tests(self) -> frozenset[str]:
        """The names of the project's functions that tell whether they run in a worker."""
        return in_worker.helpers(self.program)

    @cached_property
    def modules_that_ask(self) -> frozenset[Module]:
        """The modules whose code may ask whether it runs in a worker."""
        return frozenset(m for name in self.process_tests for m in self.program.mentions.of(name.encode()))

    @cached_property
    def worker_entries(self) -> list[WorkerEntry]:
        """All that workers are given to run."""
        return list(self._entries())

    def _entries(self) -> Iterator[WorkerEntry]:
        for dataset in self.datasets:
            if not dataset.runs_in_main:
                yield WorkerEntry(self.program, dataset)
        for loader in self.loaders:
            if loader.has_no_workers:
                continue
            steps = []
            for name, argument in loader.worker_callables():
                steps += entries_of_values(self.program, argument.values(self.program.evaluator), name)
            steps += entries_of_values(self.program, loader.dataset_values(), "dataset")
            steps += entries_of_values(self.program, pipelines.transforms(self.program, loader), "pipeline")
            if steps or any(not isinstance(v, Unknown) for v in loader.dataset_values()):
                yield WorkerEntry(self.program, loader, steps)

    @cached_property
    def lightning(self) -> Lightning:
        """What Lightning runs of the program."""
        return Lightning(self.program)

    @cached_property
    def cuda_defaults(self) -> list[Default]:
        """The places that make CUDA the default device."""
        return default_device.find(self.program)

    @cached_property
    def has_device_blocks(self) -> bool:
        """Whether anything may run in a block `with torch.device(...):`."""
        return default_device.has_blocks(self.program)

    @cached_property
    def _loaders_by_node(self) -> dict[int, list[Loader]]:
        found: dict[int, list[Loader]] = {}
        for loader in self.loaders:
            for node in {id(loader.call), id(loader.construction)}:
                found.setdefault(node, []).append(loader)
        return found

    def loaders_at(self, node: ast.AST | None) -> list[Loader]:
        """The loaders that a call makes, be it that of the project's own loader class or of torch's."""
        return self._loaders_by_node.get(id(node), [])

    def loaders_made_by(self, value: Value) -> list[Loader]:
        """The loaders that a loader object can be, by the call that made it."""
        found = self.loaders_at(getattr(value, "node", None))
        made = [loader for loader in found if loader.is_reached_by(value.frame)] if isinstance(value, Product) else []
        return made or found

    # Start methods

    @cached_property
    def unseen_start_methods(self) -> frozenset[str]:
        """Of the loaders that may read a dataset, since it cannot be seen what they read: if all are started by one
        method. The runner of a config makes whatever is registered, in the way that all configs allow."""
        readers = [one for one in self.open_readers if not one.has_no_workers and not one.module.is_test]
        found = {start_method.of_loader(self.program, reader) for reader in readers}
        recipes = [start_method.of_loader(self.program, one) for one in self.loaders if is_config(one)]
        found |= {recipes[0].intersection(*recipes)} if recipes else set()
        return found.pop() if len(found) == 1 else frozenset()

    def declared_start_methods(self, module: Module) -> frozenset[str]:
        """What `set_start_method` sets in the module, or in any module of the project that builds no loader itself."""
        if module not in self._declared:
            own = start_method.declared(self.program, module)
            self._declared[module] = own or self._declared_by_entries(module) or self._declared_elsewhere
        return self._declared[module]

    def _declared_by_entries(self, module: Module) -> frozenset[str]:
        """What all scripts that lead to a module set, if all of them do."""
        if not self._declared_elsewhere:
            return frozenset()
        entries = [m for m in self.program.importers(module) if b"__main__" in m.data and not m.is_test]
        found = [start_method.declared(self.program, entry) for entry in entries]
        return frozenset().union(*found) if found and all(found) else frozenset()

    @cached_property
    def _declared_elsewhere(self) -> frozenset[str]:
        found = [start_method.declared(self.program, m) for m in self.program.seeds if not m.is_test]
        found = [methods for methods in found if methods]
        # Other entry points of the project may set nothing: theirs stay possible.
        return frozenset().union(*found) | start_method.of_platform(self.program) if found else frozenset()

    @cached_property
    def _spawned_roots(self) -> list[Scope]:
        return start_method.spawned_functions(self.program)

    def runs_in_spawned_process(self, scope: Scope, *, as_it_is: bool = False) -> bool:
        """Whether all calls of a function that are seen come from one that `mp.spawn` runs; if asked, one that sets no
        start method of its own."""
        return bool(self._spawned_roots) and self._comes_from_spawned(scope, as_it_is, 0)

    def _comes_from_spawned(self, scope: Scope, as_it_is: bool, depth: int) -> bool:
        if scope in self._spawned_roots:
            return not as_it_is or not scope.index().calls_of("set_start_method")
        if not isinstance(scope, FunctionScope) or depth > 4:
            return False
        calls = self.program.call_sites(scope)
        return bool(calls) and all(self._comes_from_spawned(frame.scope, as_it_is, depth + 1) for _, frame in calls)
