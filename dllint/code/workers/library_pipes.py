"""Pipelines that a library makes, and that give all of their data to each worker: nothing in them shares out."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language.links import parent, scope_of
from dllint.code.language.scopes import dotted
from dllint.code.language.values import (
    Collection,
    Const,
    Derived,
    External,
    Frame,
    Function,
    Instance,
    Partial,
    Product,
    Value,
    Values,
    truth,
)
from dllint.code.loaders.loader import Loader
from dllint.code.workers.entries import entries_of_values
from dllint.code.workers.reach import WorkerCode
from dllint.code.workers.whole_data import is_data
from dllint.code.workers.worker_queries import asks_for_worker

if TYPE_CHECKING:
    from dllint.code.language.modules import Module
    from dllint.code.program import Program

_DEEPEST = 6
"""Pipelines within pipelines that are looked into."""
_PATHS = ("os.path.", "pathlib.", "glob.", "str.")


def read_whole(program: Program, loader: Loader) -> list[Product]:
    """The calls that make the pipelines which a loader reads, if each that it may read gives all to each worker."""
    if not _is_torchs(loader) or _is_lengthened(loader):
        return []
    found = [made_whole(program, value) for value in loader.dataset_values()]
    return [made for made in found if made is not None] if all(found) else []


def _is_torchs(loader: Loader) -> bool:
    """Whether it hands its dataset to workers as torch does: those of trainers and of fastai share out themselves."""
    return not loader.api.knows and not loader.api.renamed and not loader.api.service


def _is_lengthened(loader: Loader) -> bool:
    """Whether stages are put into the pipeline by the name that the loader is given it by."""
    argument = loader.arguments.get("dataset")
    name = dotted(argument.node) if argument is not None else ""
    return bool(name) and _are_added(loader.module, {name})


def made_whole(program: Program, value: Value) -> Product | None:
    """The call that makes a pipeline which certainly gives all of its data to each worker; None for all others."""
    origin = value.origin if isinstance(value, Derived) else value
    if not isinstance(origin, Product) or not origin.name.startswith(("webdataset.", *apis.DATAPIPE_PACKAGES)):
        return None
    pipe = _Pipe(program)
    made = pipe.source_of(value, 0)
    if made is None or asks_for_worker(program, pipe.code().steps):
        return None
    return made


class _Pipe:
    """A look at one pipeline: what it is made of, and what workers run of it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.ev = program.evaluator
        self._runs: list[Value] = []

    def code(self) -> WorkerCode:
        """The functions of the project that the stages run."""
        return WorkerCode(self.program, entries_of_values(self.program, tuple(self._runs), "pipeline"))

    def source_of(self, value: Value, depth: int) -> Product | None:
        """The call that makes the pipeline, if it is wholly seen and nothing in it shares out."""
        if depth > _DEEPEST:
            return None
        self._runs.append(value)
        if isinstance(value, Derived):
            source = self.source_of(value.base, depth + 1)
            return source if source is not None and self._passes_on(source, value, depth) else None
        if not isinstance(value, Product):
            return None
        name = value.name.rpartition(".")[2]
        if value.name.startswith("webdataset."):
            known = (name == "DataPipeline" and self._is_whole_pipeline(value, depth)) or (
                name == "WebDataset" and self._is_whole_web_dataset(value)
            )
            return value if known and not _gets_more_stages(value) else None
        return self._datapipe(value, name, depth)

    def _passes_on(self, source: Product, step: Derived, depth: int) -> bool:
        """Whether a method's pipeline gives all that the one before it gives."""
        call, name = step.node, step.via.removeprefix(".").removesuffix("()")
        if not isinstance(call, ast.Call) or not step.via.endswith("()"):
            return False
        if source.name.startswith("webdataset."):
            if name != "compose":
                return name in apis.WEB_METHODS
            return all(self._is_plain(values) for values in self._stages(call.args, step.frame) or [()])
        if name in apis.DATAPIPE_JOINS:
            return self._are_whole(call.args, step.frame, depth)
        return name in apis.DATAPIPE_METHODS

    # webdataset

    def _is_whole_pipeline(self, made: Product, depth: int) -> bool:
        """Whether `DataPipeline(SimpleShardList(urls), ...)` is seen to the last stage, and none of them shares out."""
        stages = self._stages(made.node.args, made.frame)
        if not stages or made.node.keywords:
            return False
        head, *rest = stages
        is_finite = bool(head) and all(self._is_finite(value, depth) for value in head)
        return is_finite and all(map(self._is_plain, rest))

    def _is_finite(self, value: Value, depth: int) -> bool:
        is_list = isinstance(value, Product) and value.name.rpartition(".")[2] == "SimpleShardList"
        return is_list or self.source_of(value, depth + 1) is not None

    def _is_whole_web_dataset(self, made: Product) -> bool:
        """Whether it is a WebDataset that is told not to share out, over a list of shards that ends."""
        given = {k.arg: self.ev.values(k.value, made.frame) for k in made.node.keywords}
        if None in given or len(made.node.args) > 1 or "workersplitter" not in given:
            return False
        if any(truth(value) is not False for name in ("resampled", "repeat", "mode") for value in given.get(name, ())):
            return False
        urls = given.get("urls") or (self.ev.values(made.node.args[0], made.frame) if made.node.args else ())
        return all(map(_is_list_of_shards, urls)) and self._is_plain(given["workersplitter"])

    def _stages(self, nodes: Iterable[ast.expr], frame: Frame) -> list[Values] | None:
        """What the stages can be, those of lists among them; None where not all are seen."""
        found: list[Values] = []
        for node in nodes:
            inner = node.value if isinstance(node, ast.Starred) else node
            values = self.ev.values(inner, frame)
            if isinstance(inner, ast.Name):
                values = tuple(value for value in values if not _is_put_behind(value))
            if isinstance(node, ast.Starred) or any(isinstance(value, Collection) for value in values):
                listed = self._listed(values)
                if listed is None:
                    return None
                found += listed
            else:
                self._runs += values
                found.append(values)
        return found

    def _listed(self, values: Values) -> list[Values] | None:
        """The stages of a list that is spelled out, and of what is put into it afterwards."""
        value = values[0] if len(values) == 1 else None
        if not isinstance(value, Collection) or not isinstance(value.node, (ast.List, ast.Tuple)):
            return None
        added = _added(value)
        return None if added is None else self._stages([*value.items, *added], value.frame)

    def _is_plain(self, values: Values) -> bool:
        """Whether a stage passes on all that it is given: one of the library's, or a function of the project, which
        is asked later whether it asks for the worker."""
        return bool(values) and all(self._passes_all(value) for value in values)

    def _passes_all(self, value: Value) -> bool:
        if isinstance(value, Partial):
            return self._passes_all(value.target)
        if isinstance(value, (External, Product)):
            return value.name.startswith("webdataset.") and value.name.rpartition(".")[2] in apis.WEB_STAGES
        if isinstance(value, Const):
            return not value.value
        return isinstance(value, (Function, Instance)) and bool(entries_of_values(self.program, (value,), ""))

    # DataPipes

    def _datapipe(self, made: Product, name: str, depth: int) -> Product | None:
        if not made.node.args or not made.name.startswith(apis.DATAPIPE_PACKAGES):
            return None
        if name in apis.DATAPIPE_JOINS.values():
            return made if self._are_whole(made.node.args, made.frame, depth) else None
        given = self.ev.values(made.node.args[0], made.frame)
        if name == "IterableWrapper":
            return made if all(is_data(self.program, value) for value in given) else None
        if name == "FileLister":
            return made if all(map(_is_path, given)) else None
        sources = [self.source_of(value, depth + 1) for value in given] if name in apis.DATAPIPE_CLASSES else []
        return sources[0] if sources and all(sources) else None

    def _are_whole(self, nodes: Iterable[ast.expr], frame: Frame, depth: int) -> bool:
        found = [value for node in nodes for value in self.ev.values(node, frame)]
        return bool(found) and all(self.source_of(value, depth + 1) is not None for value in found)


def _is_list_of_shards(value: Value) -> bool:
    """Whether it may be URLs: not the description of a mixture, a folder that is watched, or an object that shares
    out itself."""
    if isinstance(value, Const):
        return isinstance(value.value, str) and not value.value.endswith((".yaml", ".yml", "/"))
    if isinstance(value, Collection):
        return value.kind != "dict"
    return not isinstance(value, Instance) and not (isinstance(value, Product) and value.name.startswith("webdataset."))


def _is_path(value: Value) -> bool:
    """Whether it is a path or a list of some, and no other pipe."""
    return isinstance(value, (Const, Collection)) or (
        isinstance(value, Product) and f"{value.name}.".startswith(_PATHS)
    )


def _added(stages: Collection) -> list[ast.expr] | None:
    """What is put behind the stages of a list by the name that it has; None where that cannot be told."""
    around = parent(stages.node)
    if isinstance(around, (ast.Starred, ast.Call, ast.List, ast.Tuple, ast.AugAssign)):
        return []
    names = _targets(around)
    if len(names) != 1 or not names[0].isidentifier():
        return None
    name, scope = names[0], scope_of(stages.node)
    bound = [binding for binding in scope.index().bindings.get(name, ()) if binding.kind != "augmented"]
    uses = [node for node in ast.walk(scope.node) if isinstance(node, ast.Name) and node.id == name]
    found = [_put_behind(use) for use in uses]
    return [node for group in found for node in group or ()] if len(bound) == 1 and None not in found else None


def _is_put_behind(value: Value) -> bool:
    """Whether it is the list of `stages += [...]`, which `_put_behind` tells of."""
    return isinstance(value, Collection) and isinstance(parent(value.node), ast.AugAssign)


def _put_behind(name: ast.Name) -> list[ast.expr] | None:
    """What a use of a list puts behind its stages; None where it may do anything else than name them: `*stages`."""
    around = parent(name)
    if isinstance(around, ast.AugAssign) and isinstance(around.op, ast.Add):
        return [ast.Starred(around.value, ast.Load())]
    if isinstance(around, ast.Attribute) and around.attr in ("append", "extend"):
        call = parent(around)
        if not isinstance(call, ast.Call) or len(call.args) != 1:
            return None
        return call.args if around.attr == "append" else [ast.Starred(call.args[0], ast.Load())]
    is_made = isinstance(around, (ast.Assign, ast.AnnAssign)) and around.value is not name
    return [] if is_made or isinstance(around, ast.Starred) else None


def _targets(statement: ast.AST | None) -> list[str]:
    if isinstance(statement, ast.Assign):
        return [dotted(target) for target in statement.targets]
    return [dotted(statement.target)] if isinstance(statement, ast.AnnAssign) else []


def _gets_more_stages(made: Product) -> bool:
    """Whether stages are put into a pipeline by the name that it is given: `dataset.append(wds.split_by_worker)`."""
    at: ast.AST | None = made.node
    while isinstance(at, (ast.Call, ast.Attribute)):
        at = parent(at)
    return _are_added(made.frame.scope.module, set(_targets(at)))


def _are_added(module: Module, names: set[str]) -> bool:
    """Whether a module puts anything into what it calls one of these names."""
    calls = [call for word in ("append", "extend", "insert") for call, _ in module.calls_of(word)]
    return any(names & set(_holders(call.func)) for call in calls)


def _holders(function: ast.AST) -> Iterator[str]:
    """`dataset` and `dataset.pipeline` of `dataset.pipeline.insert`."""
    while isinstance(function, ast.Attribute):
        function = function.value
        yield dotted(function)
