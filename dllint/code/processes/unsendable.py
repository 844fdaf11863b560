"""What worker code gives that cannot reach the main process."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.apis import LoaderApi
from dllint.code.facts import WorkerEntry
from dllint.code.language import classes
from dllint.code.language.scopes import ClassScope, last_name
from dllint.code.language.values import Const, Derived, External, Function, Instance, Product, Value
from dllint.code.loaders.loader import Loader
from dllint.code.processes import pickling
from dllint.code.tensors import autograd
from dllint.code.tensors.autograd import Graph
from dllint.code.workers import datasets, outputs
from dllint.code.workers.outputs import Output
from dllint.finding import Location, Related
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

_HANG = "the worker cannot send it, and the main process waits for ever"
_REFUSED = "TypeError: default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists"
_NO_GRAD = "RuntimeError: stack(): functions with out=... arguments don't support automatic differentiation"
_NO_SPARSE = "RuntimeError: batches of sparse tensors are not supported by the default collate_fn"

_CURES = frozenset({"detach", "no_grad", "inference_mode", "numpy", "item", "tolist", "data"})
"""Names in a collate function that say that it takes the graph away."""
_SENT_ALL_THE_SAME = frozenset({"torch.Generator", "torch.jit.load", "torch.jit.script"})


@dataclass(frozen=True, slots=True)
class Unsendable:
    """One thing that a worker gives, and cannot send."""

    what: str
    harm: str
    help: str
    location: Location
    related: tuple[Related, ...]
    symbol: str


class Collation:
    """What becomes of the samples of a dataset: how the loaders over it make batches of them."""

    def __init__(self, program: Program, loaders: list[Loader]) -> None:
        self.unknown_loader = not loaders
        self.stacks = False
        """By the default collate of torch, as far as is seen."""
        self.passes_on = False
        """Without a change, as batch_size=None, collate_fn=list and `lambda batch: batch[0]` do."""
        self.keeps_graphs = False
        """By a function of the project that does not speak of taking them away."""
        for loader in loaders:
            self._add(program, loader)

    def _add(self, program: Program, loader: Loader) -> None:
        collate = loader.option("collate_fn")
        if all(isinstance(value, Const) and value.value is None for value in collate.values):
            whole = loader.option("batch_size").constants() == [None]
            self.passes_on |= whole
            self.stacks |= not whole and loader.api == LoaderApi()
            self.keeps_graphs |= not whole
            return
        for value in collate.values:
            if isinstance(value, External) and value.name in ("builtins.list", "builtins.tuple"):
                self.passes_on = True
            elif isinstance(value, Function):
                self.passes_on |= outputs.passes_on(value.scope)
                names = {last_name(node) for node in ast.walk(value.scope.node) if isinstance(node, ast.Attribute)}
                self.keeps_graphs |= not names & _CURES


def given_by(entry: WorkerEntry) -> Iterator[Unsendable]:
    """What the samples of a dataset, or the batches of a loader's own collate function, hold that cannot be sent."""
    program = entry.program
    if entry.dataset is not None:
        sampled = _sampled(entry)
        collation = Collation(program, list(sampled))
        instances = {value.key: value for values in sampled.values() for value in values}
        for instance in instances.values() or _alone(entry, entry.dataset.cls):
            for output in outputs.samples(program, instance):
                yield from _in_sample(entry, output, collation)
        return
    for loader in entry.loaders:
        for name, argument in loader.worker_callables():
            for value in argument.values(program.evaluator) if name == "collate_fn" else ():
                for output in outputs.batches(program, value):
                    yield from _in_batch(entry, output)


def _alone(entry: WorkerEntry, cls: ClassScope) -> list[Instance]:
    """An object of a class that no loader is seen to get, unless loaders get what derives from it: that is asked."""
    ev = entry.program.evaluator
    loaded = (other for other in entry.program.facts.datasets if other.cls is not cls and other.loaders)
    if entry.loaders or any(cls in classes.mro(ev, other.cls) for other in loaded):
        return []
    return [Instance(cls)]


def _sampled(entry: WorkerEntry) -> dict[Loader, list[Instance]]:
    """The loaders that take their samples from a dataset class, each with the objects: those that another data set
    wraps give theirs to that one."""
    assert entry.dataset is not None
    cls = entry.dataset.cls
    found = {loader: datasets.sampled_by(entry.program, loader) for loader in entry.loaders}
    own = {loader: [value for value in values if value.cls is cls] for loader, values in found.items()}
    return {loader: values for loader, values in own.items() if values}


def _in_sample(entry: WorkerEntry, output: Output, collation: Collation) -> Iterator[Unsendable]:
    stacked = collation.stacks or collation.unknown_loader
    for part in output.parts(entry.program):
        graph = autograd.of_value(entry.program, part, output)
        if graph is not None and not autograd.is_off_in_main(entry):
            if graph.leaf and stacked:
                yield _of_graph(entry, output, graph, _NO_GRAD)
            elif not graph.leaf and (stacked or collation.passes_on or collation.keeps_graphs):
                yield _of_graph(entry, output, graph, _NO_GRAD if stacked else _HANG)
        made = _sparse(part)
        if made is not None and collation.stacks:
            yield _of_sparse(output, made)
        if stacked or collation.passes_on:
            yield from _of_object(entry.program, output, part, stacked=stacked)


def _in_batch(entry: WorkerEntry, output: Output) -> Iterator[Unsendable]:
    for part in output.parts(entry.program):
        graph = autograd.of_value(entry.program, part, output)
        if graph is not None and not graph.leaf and not autograd.is_off_in_main(entry):
            yield _of_graph(entry, output, graph, _HANG)
        yield from _of_object(entry.program, output, part, stacked=False)


def _of_graph(entry: WorkerEntry, output: Output, graph: Graph, harm: str) -> Unsendable:
    location = graph.frame.scope.module.location(graph.node)
    what = f"a tensor that requires a gradient, made by {graph.text},"
    help_text = "call it under torch.no_grad(), or .detach() what it gives"
    return Unsendable(what, harm, help_text, location, _returned(output), output.scope.qualname)


def _of_sparse(output: Output, made: Product | Derived) -> Unsendable:
    location = made.frame.scope.module.location(made.node)
    help_text = "give indices and values, or a dense row, and make the sparse tensor in the main process"
    return Unsendable("a sparse tensor", _NO_SPARSE, help_text, location, _returned(output), output.scope.qualname)


def _sparse(value: Value) -> Product | Derived | None:
    """The call that made a tensor sparse, if it still is."""
    if isinstance(value, Product):
        return value if value.name in apis.MAKES_SPARSE else None
    if not isinstance(value, Derived):
        return None
    for step in value.chain():
        if step.via in apis.MAKES_SPARSE_METHODS:
            return step
        if step.via not in apis.KEEPS_SPARSE:
            return None
    return _sparse(value.origin)


def _of_object(program: Program, output: Output, part: Value, *, stacked: bool) -> Iterator[Unsendable]:
    """Functions, generators, handles and the like: nothing that pickle takes."""
    harm = _REFUSED if stacked else _HANG
    if isinstance(part, Instance) and (not pickling.is_local(part.cls) or datasets.is_dataset_class(program, part.cls)):
        return  # a data set gives a part of itself for a slice: main asks for that
    refused = pickling.refused(part, "in a sample")
    if refused is not None and not (isinstance(part, Product) and part.name in _SENT_ALL_THE_SAME):
        yield Unsendable(
            refused.what, harm, "give tensors, numbers and texts", refused.location, _returned(output), refused.symbol
        )
    elif isinstance(part, Product) and _defaults_to_local(program, part):
        what = "a defaultdict whose default is a local function"
        place = part.frame.scope.module.location(part.node)
        advice = "give tensors, numbers and texts"
        yield Unsendable(what, _HANG, advice, place, _returned(output), output.scope.qualname)


def _defaults_to_local(program: Program, part: Product) -> bool:
    if part.name != "collections.defaultdict" or not part.node.args:
        return False
    factories = program.evaluator.values(part.node.args[0], part.frame)
    return any(pickling.refused(factory, "") is not None for factory in factories)


def _returned(output: Output) -> tuple[Related, ...]:
    return (Related(f"given by {output.scope.qualname}", output.scope.module.location(output.node)),)
