"""Data on the GPU that a loader hands on: in its dataset's container, its samples, or what its collate_fn makes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language import containers
from dllint.code.language.scopes import last_name
from dllint.code.language.values import Collection, Const, Derived, Frame, Function, Product, Value
from dllint.code.loaders.loader import Loader
from dllint.code.tensors import devices, transfers
from dllint.code.workers import datasets, outputs
from dllint.code.workers.outputs import Output
from dllint.finding import Related

if TYPE_CHECKING:
    from dllint.code.program import Program

Container = Product | Collection | Derived
_OF_TENSORS = frozenset({"torch.utils.data.TensorDataset", "torch.utils.data.StackDataset"})
_ROWS = frozenset({"list", "tuple", "dict"})
_DEEPEST = 2
_FORMATS = (".with_format()", ".set_format()")


def held(loader: Loader, *, where_available: bool = False) -> Iterator[Container]:
    """The TensorDatasets, lists and tensors on the GPU that a loader reads."""
    for value in loader.dataset_values():
        for container in datasets.parts(loader.program, value):
            if isinstance(container, (Product, Collection, Derived)) and _holds_cuda(
                loader.program, container, where_available
            ):
                yield container
                if isinstance(container, Product) and container.name in _OF_TENSORS:
                    break  # what a StackDataset is given, it reads by items


def _holds_cuda(program: Program, value: Container, where_available: bool, depth: int = 0) -> bool:
    """Whether a TensorDataset, a list or what else a loader takes items from is on the GPU."""
    inner = list(given(program, value))
    if any(devices.is_on_cuda(program, each, where_available=where_available) for each in inner):
        return True
    rows = [each for each in inner if isinstance(each, Collection) and each.kind in _ROWS]
    return depth < _DEEPEST and any(_holds_cuda(program, row, where_available, depth + 1) for row in rows)


def given(program: Program, value: Value) -> Iterator[Value]:
    """What a container of tensors holds; or the tensor, or the library's data set, that is read by items itself."""
    ev = program.evaluator
    if isinstance(value, Product) and value.name in _OF_TENSORS:
        for argument in (*value.node.args, *(keyword.value for keyword in value.node.keywords)):
            yield from _unpacked(program, argument, value.frame)
    elif isinstance(value, Collection) and value.kind in _ROWS:
        yield from value.each or ()
        yield from (inner for item in value.items[:20] for inner in ev.values(item, value.frame))
        yield from (inner for binding in containers.filled_later(value) for inner in ev.bound(binding, value.frame))
    elif isinstance(value, Product):
        yield from (value,) if value.name in apis.FACTORIES else ()
    elif isinstance(value, Derived) and isinstance(value.origin, Product):
        # `TUDataset(...).to("cuda")`: a data set that is moved whole.
        yield from (value,) if value.via in (".to()", ".cuda()") or value.origin.name in apis.FACTORIES else ()


def _unpacked(program: Program, argument: ast.expr, frame: Frame) -> Iterator[Value]:
    """What an argument is; what is in the list that is unpacked there."""
    if not isinstance(argument, ast.Starred):
        yield from program.evaluator.values(argument, frame)
        return
    for value in program.evaluator.values(argument.value, frame):
        if isinstance(value, Collection):
            yield from given(program, value)


_TO_THE_CPU = frozenset({"cpu", "to", "numpy", "tolist", "item", "copy_", "zeros", "empty", "full", "ones"})
"""Names in a collate function by which it may take data to the CPU, or into a batch that it makes there."""


def handed_on(loader: Loader) -> Iterator[Related]:
    """Where the CUDA tensors come from that a loader gives on a machine with a GPU."""
    program = loader.program
    collates = [v for name, a in loader.worker_callables() if name == "collate_fn" for v in a.values(program.evaluator)]
    for collate in collates:
        for output in outputs.batches(program, collate):
            yield from _on_cuda(program, output, "the batch is on the GPU")
    if not all(_passes_on(collate) for collate in collates):
        return
    for container in held(loader, where_available=True):
        yield Related("holds CUDA tensors", container.frame.scope.module.location(container.node))
    for instance in datasets.sampled_by(program, loader):
        for output in outputs.samples(program, instance):
            yield from _on_cuda(program, output, "the sample is on the GPU")
    for value in loader.dataset_values():
        for inner in transfers.nested(program, value):
            yield from _by_library(program, inner)
    for call, frame in transfers.formatted_in_place(loader):
        yield from _named(program, call, frame)


def _on_cuda(program: Program, output: Output, label: str) -> Iterator[Related]:
    for part in output.parts(program):
        if devices.is_on_cuda(program, part, where_available=True):
            yield Related(label, output.scope.module.location(output.node))
            return


def _passes_on(collate: Value) -> bool:
    """Whether a collate function is known, and leaves the tensors where they are."""
    if isinstance(collate, Const):
        return collate.value is None
    if not isinstance(collate, Function):
        return False
    names = {last_name(node) for node in ast.walk(collate.scope.node) if isinstance(node, ast.Attribute)}
    return not names & _TO_THE_CPU


def _by_library(program: Program, value: Value) -> Iterator[Related]:
    """Hugging Face's `with_format(device="cuda")`, and transforms of a library that move to the GPU."""
    if isinstance(value, Product) and value.name in apis.MOVING_TRANSFORMS:
        yield from _named(program, value.node, value.frame)
    for step in value.chain() if isinstance(value, Derived) else ():
        if step.via in _FORMATS and isinstance(step.node, ast.Call):
            yield from _named(program, step.node, step.frame)


def _named(program: Program, call: ast.Call, frame: Frame) -> Iterator[Related]:
    device = next((k.value for k in call.keywords if k.arg == "device"), None)
    if device is not None and devices.can_be_cuda(program, program.evaluator.values(device, frame)):
        yield Related("moves the samples to the GPU", frame.scope.module.location(call))
