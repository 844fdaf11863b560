"""Drawn batches: which values come from a loader's batches, and whether they still use the workers' storages."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language import classes
from dllint.code.language.elements import item
from dllint.code.language.scopes import last_name
from dllint.code.language.values import (
    Collection,
    Const,
    Derived,
    Frame,
    Function,
    Instance,
    Number,
    Product,
    Unknown,
    Value,
    Values,
    is_unknown,
)
from dllint.code.loaders import batches
from dllint.code.loaders import finding as loaders
from dllint.code.loaders.loader import Loader
from dllint.code.processes import start_method
from dllint.code.tensors import counting
from dllint.code.workers.datasets import read_by
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Batch:
    """A value that was got from a loader's drawn."""

    loader: Loader
    source: ast.AST
    """The expression that is gone through, or that `next` is given."""
    steps: tuple[Derived, ...]
    """How the value was got from the batch; none if it is the whole batch."""

    @property
    def is_whole(self) -> bool:
        """Whether it is the batch itself, or each of its parts in turn."""
        return all(step.via in ("each", ".items()", ".values()") or _is_pair_part(step) for step in self.steps)


def of_value(program: Program, value: Value) -> list[Batch]:
    """The batches that a value was got from: one for each loader that it can come from."""
    if not isinstance(value, Derived):
        return []
    steps = list(value.chain())[::-1]
    for number, step in enumerate(steps):
        if step.via == "each" and loaders.is_loader(program, step.base):
            made = program.facts.loaders_made_by(step.base)
            return [Batch(loader, step.node, tuple(steps[number + 1 :])) for loader in made]
    return []


def kept(program: Program, value: Value, depth: int = 0) -> Iterator[Batch]:
    """The batches whose storages a value certainly keeps: views, no-ops and containers of such; copies keep none."""
    if depth > _DEEPEST or _picks_of_array(value):
        return
    if isinstance(value, Derived):
        if all(_shares(program, step) for step in value.chain()):
            yield from of_value(program, value)
        elif isinstance(value.origin, Product) and value.origin.name in apis.SHARES_FIRST_ARGUMENT:
            yield from _through(program, value, depth)
    elif isinstance(value, Product) and value.name in apis.SHARES_FIRST_ARGUMENT and value.node.args:
        for inner in program.evaluator.values(value.node.args[0], value.frame):
            yield from kept(program, inner, depth + 1)
    elif isinstance(value, Collection) and value.kind != "generator":
        yield from _in_collection(program, value, depth)
    elif isinstance(value, Collection):
        for inner in value.each or ():
            yield from kept(program, inner, depth + 1)


def _picks_of_array(value: Value) -> bool:
    """Whether an element of a NumPy array is taken: that of a flat one is a number, a copy, and the rank is unknown."""
    if not isinstance(value, Derived):
        return False
    picked = False
    for step in value.chain():
        picked = picked or step.via == "each" or (step.via == "[]" and not _is_sliced(step))
        if step.via == ".numpy()":
            return picked
    return picked and isinstance(value.origin, Product) and value.origin.name.startswith("numpy.")


def _is_sliced(step: Derived) -> bool:
    """Whether an index has a slice, so that at least one dimension is left."""
    index = step.node.slice if isinstance(step.node, ast.Subscript) else None
    return any(isinstance(part, ast.Slice) for part in getattr(index, "elts", [index]))


def _through(program: Program, value: Derived, depth: int) -> Iterator[Batch]:
    """`torch.squeeze(x).numpy()`."""
    if all(_shares(program, step) for step in value.chain()):
        yield from kept(program, value.origin, depth + 1)


def _in_collection(program: Program, value: Collection, depth: int) -> Iterator[Batch]:
    groups = [value.each] if value.each is not None else []
    groups += [program.evaluator.values(part, value.frame) for part in value.items[:12]]
    for group in groups:
        for inner in group:
            yield from kept(program, inner, depth + 1)


def _shares(program: Program, step: Derived) -> bool:
    """Whether one step gives what still uses the storage that it starts from."""
    if step.via in apis.SHARES_STORAGE or (step.via in apis.BATCH_STEPS and step.via != "[]"):
        return True
    if step.via == "[]":
        return _picks_a_view(program, step)
    if step.via == ".to()" and isinstance(step.node, ast.Call):
        return _stays_on_cpu(program, step.node, step.frame)
    return step.via.startswith(".") and not step.via.endswith("()") and step.via not in apis.PLAIN_ATTRIBUTES


def _is_pair_part(step: Derived) -> bool:
    """Whether a step takes the key or the value of `for key, value in batch.items()`."""
    pair = step.base
    return step.via == "[]" and isinstance(pair, Derived) and pair.via == "each" and _is_items(pair.base)


def _is_items(value: Value) -> bool:
    return isinstance(value, Derived) and value.via == ".items()"


def _picks_a_view(program: Program, step: Derived) -> bool:
    """Whether an index gives a view: unpacking, constants and slices do, a mask or a list of indexes copies."""
    if _is_pair_part(step):
        return step.index == 1
    if not isinstance(step.node, ast.Subscript) or step.index is not None:
        return True
    index = step.node.slice
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return all(isinstance(p, (ast.Slice, ast.Constant)) or _is_number(program, p, step.frame) for p in parts)


def _is_number(program: Program, node: ast.expr, frame: Frame) -> bool:
    found = program.evaluator.values(node, frame)
    return all(isinstance(v, Number) or (isinstance(v, Const) and isinstance(v.value, int)) for v in found)


def _stays_on_cpu(program: Program, call: ast.Call, frame: Frame) -> bool:
    """Whether `.to(...)` certainly names the CPU and nothing else."""
    given = [*call.args, *(k.value for k in call.keywords if k.arg == "device")]
    if len(given) != 1 or len(call.args) + len(call.keywords) != 1:
        return False
    return all(_is_cpu(program, value) for value in program.evaluator.values(given[0], frame))


def _is_cpu(program: Program, value: Value, above: frozenset[ast.AST] = frozenset()) -> bool:
    if isinstance(value, Product) and value.name == "torch.device" and value.node.args:
        if value.node in above:  # `device = torch.device(device)`
            return False
        given = program.evaluator.values(value.node.args[0], value.frame)
        return all(_is_cpu(program, inner, above | {value.node}) for inner in given)
    return isinstance(value, Const) and value.value == "cpu"


# Loaders


def shares_storages(loader: Loader) -> bool:
    """Whether main gets the storages of the loader's workers as they are, a descriptor each."""
    if loader.workers.absent is not False or loader.defaults_to_no_workers or start_method.uses_threads(loader):
        return False
    if loader.option("batch_size").constants() == [None] and not _gives_tensors(loader):
        return False  # samples come as they are: numbers and lists of them take no storage
    # Pinned batches are copies, where there is an accelerator.
    return loader.option("pin_memory").is_certainly(False)


def _gives_tensors(loader: Loader) -> bool:
    """Whether a sample may hold a tensor, or an array that becomes one: not if it is seen to hold neither."""
    sample = batches.sample_values(loader.program, loader)
    return not sample or is_unknown(sample) or counting.count(loader.program, sample) > 0


def count(program: Program, loader: Loader) -> int | None:
    """How many batches one pass over a loader gives, where the source says it."""
    sizes = {length(program, value, 0) for value in loader.dataset_values()}
    per_batch = [value for value in loader.option("batch_size").constants() if isinstance(value, int) and value > 0]
    if len(sizes) != 1 or len(per_batch) != 1 or "batch_sampler" in loader.arguments:
        return None
    size = sizes.pop()
    return None if size is None else -(-size // per_batch[0])


def length(program: Program, value: Value, depth: int = 0) -> int | None:
    """How many items a dataset has; None if that cannot be known."""
    ev = program.evaluator
    if isinstance(value, Collection) and value.each is None:
        return len(value.items)
    if isinstance(value, Instance):
        method = classes.method(ev, value.cls, "__len__")
        found = ev.returned(Function(method, value), None, Frame(value.cls)) if method is not None else ()
        return _only_number(found)
    if not isinstance(value, Product) or not value.node.args or depth > 3:
        return None
    first = ev.values(value.node.args[0], value.frame)
    if value.name in ("builtins.range", "torch.arange") or value.name.rpartition(".")[2] in ("rand", "randn", "zeros"):
        return _only_number(first) if len(value.node.args) == 1 or value.name.startswith("torch.r") else None
    if value.name == "torch.utils.data.TensorDataset" and len(first) == 1:
        return length(program, first[0], depth + 1)
    return None


def _only_number(values: Values) -> int | None:
    numbers = [v.value for v in values if isinstance(v, Const) and isinstance(v.value, int)]
    return numbers[0] if len(numbers) == 1 == len(values) else None


# Tensors


def is_tensor(program: Program, batch: Batch) -> bool | None:
    """Whether what was got from a batch is a tensor, or holds one; None if that is not known."""
    if any(step.via in apis.SHARES_STORAGE or step.via == ".to()" for step in batch.steps):
        return True
    if not _has_default_collate(batch.loader):
        return True if batch.is_whole and _collates_tensors(program, batch.loader) else None
    steps = () if batch.is_whole else batch.steps
    known = {_sampled(program, value, index, steps) for value, index in _samples(program, batch.loader)}
    if known == {False}:
        return False
    return True if known == {True} or batch.is_whole else None


def _has_default_collate(loader: Loader) -> bool:
    return loader.option("collate_fn").absent is True


def _collates_tensors(program: Program, loader: Loader) -> bool:
    """Whether a loader's own collate_fn is seen to make tensors."""
    for value in loader.option("collate_fn").values:
        if isinstance(value, Product) and value.name.startswith("transformers."):
            return True
        if isinstance(value, Function):
            for call in value.scope.index().calls:
                if last_name(call.func) in (*apis.JOINS_TENSORS, "tensor", "default_collate"):
                    return True
    return False


def _samples(program: Program, loader: Loader) -> Iterator[tuple[Value, str]]:
    """What one sample of the datasets that a loader reads can be, and by which name it is asked for."""
    ev = program.evaluator
    for instance in read_by(program, loader):
        for name in ("__getitem__", "__iter__"):
            method = classes.method(ev, instance.cls, name)
            if method is None:
                continue
            frame = Frame(method, instance)
            index = method.parameters[1].arg if len(method.parameters) > 1 else ""
            given = [y.value for y in method.index().yields if isinstance(y, ast.Yield)]
            given += [r.value for r in method.returns] if not method.is_generator else []
            yield from ((value, index) for node in given if node is not None for value in ev.values(node, frame))
    yield from ((value, "") for value in loader.dataset_values() if isinstance(value, Product))


def _sampled(program: Program, value: Value, index: str, steps: tuple[Derived, ...]) -> bool | None:
    """Whether the steps lead to what the default collate makes a tensor of, from one sample of a dataset."""
    if isinstance(value, Product) and value.name in _TENSOR_SAMPLES:
        return True
    for step in steps:
        if not isinstance(value, Collection):
            break
        if step.via != "[]" or step.index is None:
            return None
        found = item(program.evaluator, value, step.index, step.node, step.frame)
        if len(found) != 1:
            return None
        value = found[0]
    return _becomes_tensor(program, value, index, 0)


_TENSOR_SAMPLES = frozenset(
    {
        "torch.utils.data.TensorDataset",
        *(
            f"torchvision.datasets.{name}"
            for name in ("MNIST", "FashionMNIST", "CIFAR10", "CIFAR100", "SVHN", "ImageFolder", "FakeData", "ImageNet")
        ),
    }
)
"""Datasets whose samples the default collate turns into tensors, each part of them."""


def _becomes_tensor(program: Program, value: Value, index: str, depth: int) -> bool | None:
    """Whether the default collate makes a tensor of such values, or of something in them."""
    if isinstance(value, Number):
        return True
    if isinstance(value, Const):
        return isinstance(value.value, (int, float))
    if isinstance(value, Unknown):
        return True if index and value.name == index else None
    if isinstance(value, Collection) and depth < 3:
        parts = [v for part in value.items[:12] for v in program.evaluator.values(part, value.frame)]
        parts += value.each or ()
        known = [_becomes_tensor(program, part, index, depth + 1) for part in parts]
        return True if True in known else None if None in known or not known else False
    origin = value.origin if isinstance(value, Derived) else value
    if isinstance(origin, Product):
        if origin.name.partition(".")[0] in ("torch", "numpy", "torchvision"):
            return True
        return False if origin.name in _TEXTS and origin is value else None
    return None


_TEXTS = frozenset({"str", "builtins.str", "os.path.join", "os.path.basename", "os.path.abspath"})
