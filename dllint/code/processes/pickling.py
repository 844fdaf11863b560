"""What spawn and forkserver have to pickle for each worker, and which of it pickle refuses."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.handles import opened as handles
from dllint.code.language import classes, conditions
from dllint.code.language.callables import callables
from dllint.code.language.memory_files import is_over_memory
from dllint.code.language.scopes import ClassScope, FunctionScope, Scope, last_name
from dllint.code.language.values import (
    Collection,
    Derived,
    External,
    Frame,
    Function,
    Instance,
    ModuleRef,
    Partial,
    Product,
    Value,
)
from dllint.code.loaders.finding import is_loader
from dllint.code.loaders.loader import Loader
from dllint.code.processes import decorated, start_method
from dllint.code.processes.stand_ins import stands_in
from dllint.code.workers import archives, datasets, holding, state
from dllint.code.workers.datasets import Dataset
from dllint.finding import Location, Related
from dllint.records import dataclass, replace

if TYPE_CHECKING:
    from dllint.code.program import Program

_MOVE = (
    "define it at module level; what it closes over can become arguments of functools.partial or attributes of a class"
)
_WRAP = "put @functools.wraps(function) on it, so that pickle finds the decorated function by its name"
_TO_MODULE = "move it to a module, a .py file beside the notebook, and import it from there"
_ITERATORS = frozenset({"map", "filter", "zip", "enumerate", "reversed"})
"""What makes iterators that pickle takes, though it refuses generators."""
_NO_ITERATOR = "NotImplementedError: ('{} cannot be pickled', ...)"
_COPY = "keep a list of it: list(...)"
_LATER = "create it in the worker on first use, or drop it in __getstate__"


@dataclass(frozen=True, slots=True)
class Unpicklable:
    """One object that cannot be sent to a worker."""

    what: str
    error: str
    by: str
    """How it gets there: `as collate_fn`, `on the dataset, as transform[]`."""
    help: str
    location: Location
    related: tuple[Related, ...]
    symbol: str


class Carried:
    """What one loader sends to its workers; or what a dataset would, that no loader is seen to read."""

    def __init__(self, program: Program, loader: Loader | None, dataset: Dataset | None) -> None:
        self.program = program
        self.loader = loader
        self.dataset = dataset

    @property
    def path(self) -> str:
        """The file that holds the loader, or the dataset."""
        subject = self.loader or self.dataset
        return subject.path if subject is not None else ""

    def related(self) -> list[Related]:
        """The loader that starts the workers."""
        return [self.loader.related()] if self.loader is not None else []

    def unpicklable(self) -> Iterator[Unpicklable]:
        """All that pickle refuses of what is sent."""
        if self.loader is not None:
            yield from _of_loader(self.program, self.loader)
        elif self.dataset is not None:
            yield from self._made_by_itself(self.dataset.cls)

    def _made_by_itself(self, cls: ClassScope) -> Iterator[Unpicklable]:
        """Of a dataset that no loader is seen to read: what its code makes. What it is given may stay in a worker."""
        own = set(classes.project_mro(self.program.evaluator, cls))
        for found in _of_object(self.program, Instance(cls)):
            if any(found.symbol.startswith(base.qualname + ".") for base in own):
                yield found


def find(program: Program) -> Iterator[Carried]:
    """What may be pickled in a program: loaders with workers, and datasets that nothing is seen to read."""
    for loader in program.facts.loaders:
        if (
            not loader.has_no_workers
            and loader.speaks_of_workers
            and start_method.of_loader(program, loader) & start_method.PICKLING
        ):
            yield Carried(program, loader, None)
    for dataset in program.facts.datasets:
        if not dataset.loaders and not dataset.runs_in_main and dataset.may_pickle:
            yield Carried(program, None, dataset)


def _of_loader(program: Program, loader: Loader) -> Iterator[Unpicklable]:
    for name, argument in loader.worker_callables():
        for value in argument.values(program.evaluator):
            yield from _of_callable(program, value, f"as {name}")
    for instance in datasets.read_by(program, loader):
        local = _refused_class(instance.cls)
        if local is not None:
            yield local
        yield from _of_object(program, instance)
    for value in loader.dataset_values():
        if not isinstance(value, Instance):
            for function in callables(program, value):
                yield from _of_callable(program, function, "in the dataset")


def _of_callable(
    program: Program, value: Value, by: str, above: frozenset[ast.AST] = frozenset()
) -> Iterator[Unpicklable]:
    """What pickle refuses of a callable; `above`: the arguments of partials that it is bound by."""
    target = value
    while isinstance(target, Partial):
        for argument in holding.bound_by(target):
            if argument in above:  # `p = partial(f, inner=p)`
                continue
            for given in program.evaluator.values(argument, target.frame):
                yield from _of_callable(program, given, f"within the partial {by}", above | {argument})
        target = target.target
    if isinstance(target, (Function, Product)):
        found = refused(target, by) or _refused_decorated(program, target, by)
        if found is not None:
            yield found
    elif isinstance(target, Instance):
        local = _refused_class(target.cls, by)
        if local is not None:
            yield local
        yield from _of_object(program, target)


def _of_object(program: Program, value: Instance) -> Iterator[Unpicklable]:
    for item in state.items(program, value):
        if state.is_dropped(program, item):
            continue
        target = item.value
        while isinstance(target, Partial):
            target = target.target
        if isinstance(target, Instance) and not item.certain:
            continue  # a stand-in for a library that is not installed, or one of several classes
        if isinstance(target, Function) and stands_in(program, target, item.frame):
            continue
        by = f"on {value.cls.name}, as {item.path}"
        found = refused(target, by, item) or _refused_decorated(program, target, by, item)
        if found is None and isinstance(target, Product) and _is_archive(program, item):
            error = apis.UNPICKLABLE["zipfile.ZipFile"]
            found = _made("the archive of numpy.load()", error, by, target.node, target.frame, item)
        if found is None and isinstance(target, Product) and _is_iterator_of_loader(program, target):
            found = _made("the iterator of a loader", _NO_ITERATOR, by, target.node, target.frame, item)
        if found is not None and isinstance(target, Product):
            found = _over_memory(program, target, found)
        if found is not None:
            handle = handles.handle_of(program, target) if isinstance(target, Product) else None
            yield found if handle is None else replace(found, location=handle.location)


def _over_memory(program: Program, target: Product, found: Unpicklable) -> Unpicklable | None:
    """The same with the words of pickle for what is opened over an `io.BytesIO`; None where pickle takes that."""
    if target.name not in apis.REFUSED_OVER_MEMORY or not is_over_memory(program.evaluator, target):
        return found
    error = apis.REFUSED_OVER_MEMORY[target.name]
    return replace(found, error=error) if error else None


def _is_iterator_of_loader(program: Program, target: Product) -> bool:
    """`iter(DataLoader(...))`, with workers of its own or without."""
    if target.name != "builtins.iter" or not target.node.args:
        return False
    given = program.evaluator.values(target.node.args[0], target.frame)
    return all(isinstance(value, Product) and is_loader(program, value) for value in given)


def _is_archive(program: Program, item: state.Item) -> bool:
    """Whether `np.load(path)` gives an open .npz file, as methods that read it by a name tell."""
    return archives.may_be_archive(program, item) and archives.is_read_by_name(program, item)


def refused(value: Value, by: str, item: state.Item | None = None) -> Unpicklable | None:
    """Why pickle refuses a value; None if it does not, or if that is not known."""
    if isinstance(value, Function):
        return _refused_function(value, by, item)
    if isinstance(value, Instance):
        return _refused_class(value.cls, by)
    if isinstance(value, Collection) and value.kind == "generator" and last_name(value.node) not in _ITERATORS:
        return _made("a generator", "TypeError: cannot pickle 'generator' object", by, value.node, value.frame, item)
    if isinstance(value, Derived) and value.via in apis.GENERATOR_METHODS and _is_path(value.base):
        return _made("a generator", "TypeError: cannot pickle 'generator' object", by, value.node, value.frame, item)
    if isinstance(value, Derived) and value.via in apis.DICT_VIEWS:
        return _refused_view(value, by, item)
    if isinstance(value, Derived) and isinstance(value.base, Product):
        if value.via in apis.MAKES_ALIKE and value.base.name in apis.UNPICKLABLE:
            label = f"{value.base.name}(){value.via}"
            error = apis.UNPICKLABLE[apis.MAKES_ALIKE[value.via]]
            return _made(label, error, by, value.node, value.frame, item)
        value = value.base if value.via == ".manual_seed()" else value
    if isinstance(value, Product) and value.name in apis.UNPICKLABLE:
        label = f"{value.name.removeprefix('builtins.')}()"
        return _made(label, apis.UNPICKLABLE[value.name], by, value.node, value.frame, item)
    if isinstance(value, (ModuleRef, External)) and item is not None and _is_module(value):
        return _made("a module", "TypeError: cannot pickle 'module' object", by, item.write.node, item.frame, item)
    return None


def _refused_view(value: Derived, by: str, item: state.Item | None) -> Unpicklable | None:
    """A view of what is certainly a dict: other things have such methods, too."""
    base = value.base
    kind = apis.DICTS.get(base.name) if isinstance(base, Product) else None
    if isinstance(base, Collection) and base.kind == "dict":
        kind = "dict"
    if kind is None:
        return None
    error = f"TypeError: cannot pickle '{kind}_{value.via.strip('.()')}' object"
    return _made("a view of a dict", error, by, value.node, value.frame, item, _COPY)


def _is_path(value: Value) -> bool:
    origin = value.origin if isinstance(value, Derived) else value
    return isinstance(origin, Product) and origin.name in ("pathlib.Path", "pathlib.PosixPath", "pathlib.PurePath")


def _is_module(value: ModuleRef | External) -> bool:
    """Whether it is a module: `import x` gives a name without dots."""
    return isinstance(value, ModuleRef) or "." not in value.name or value.name in apis.SUBMODULES


def _made(
    what: str, error: str, by: str, node: ast.AST, frame: Frame, item: state.Item | None, advice: str = _LATER
) -> Unpicklable:
    module = frame.scope.module
    return Unpicklable(what, error, by, advice, module.location(node), _stored(item), frame.scope.qualname)


def _stored(item: state.Item | None) -> tuple[Related, ...]:
    if item is None:
        return ()
    return (Related(f"kept as {item.path}", item.frame.scope.module.location(item.write.node)),)


def _refused_function(value: Function, by: str, item: state.Item | None) -> Unpicklable | None:
    scope = value.scope
    if decorated.is_found_by_name(value):
        return None
    if isinstance(scope.node, ast.Lambda):
        what, error = "a lambda", error_of(scope)
    elif is_local(scope):
        what, error = f"the local function {scope.name}", error_of(scope)
    elif scope.module.is_notebook:
        return _of_cell(scope, "function", by, item)
    else:
        return None
    return Unpicklable(what, error, by, _MOVE, scope.module.location(scope.node), _stored(item), scope.qualname)


def _refused_decorated(program: Program, value: Value, by: str, item: state.Item | None = None) -> Unpicklable | None:
    """A function that a decorator replaced by one of its own, without the name by which pickle would find it."""
    inner = decorated.stands_for(program, value) if isinstance(value, Function) else None
    if inner is None or not isinstance(value, Function):
        return None
    what = f"what the decorator makes of {value.scope.name}"
    related = (Related(f"{value.scope.name} is decorated here", value.scope.module.location(value.scope.node)),)
    location = inner.module.location(inner.node)
    return Unpicklable(what, error_of(inner), by, _WRAP, location, (*related, *_stored(item)), value.scope.qualname)


def _of_cell(scope: Scope, kind: str, by: str, item: state.Item | None = None) -> Unpicklable:
    """What a cell of a notebook defines: a worker that is not forked has another main module, without it."""
    what = f"the {kind} {scope.name}, defined in a notebook cell,"
    error = f"AttributeError: Can't get attribute '{scope.name}' on <module '__main__' (built-in)>"
    location = scope.module.location(scope.node)
    return Unpicklable(what, error, by, _TO_MODULE, location, _stored(item), scope.qualname)


def _refused_class(cls: ClassScope, by: str = "as the dataset") -> Unpicklable | None:
    if is_local(cls):
        error = error_of(cls)
        what = f"the local class {cls.name}"
    elif cls.module.is_notebook:
        return _of_cell(cls, "class", by)
    elif conditions.is_guarded(cls.node):
        error = f"AttributeError: Can't get attribute '{cls.name}' on <module '__mp_main__'>"
        what = f"the class {cls.name}, defined under the main guard,"
    else:
        return None
    return Unpicklable(
        what, error, by, "define the class at module level", cls.module.location(cls.node), (), cls.qualname
    )


def error_of(scope: Scope) -> str:
    """What pickle says of a function or class that no import finds, with the name that Python gives it."""
    if not is_local(scope):
        return f"PicklingError: attribute lookup {scope.name} on __main__ failed"
    parts = [scope.name]
    around = scope.parent
    while around is not None and around.parent is not None:
        parts += ["<locals>", around.name] if isinstance(around, FunctionScope) else [around.name]
        around = around.parent
    return f"AttributeError: Can't pickle local object '{'.'.join(reversed(parts))}'"


def is_local(scope: Scope) -> bool:
    """Whether a function or class stands within a function, and so has no importable name."""
    around = scope.parent
    while isinstance(around, ClassScope):
        around = around.parent
    return isinstance(around, FunctionScope)
