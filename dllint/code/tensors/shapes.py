"""How many bytes of tensors a sample or a batch holds, where shapes and types can be read off the code.

What cannot be read counts as nothing: every number here is a lower bound, and exact only where a `Sample` says so.
NumPy arrays that a collate function passes on go through a pipe; `default_collate` makes tensors of arrays, ints
(int64) and floats (float64).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from dllint.code.language.evaluator import Evaluator
from dllint.code.language.scopes import dotted
from dllint.code.language.values import Collection, Const, Frame, Function, Instance, Product, Value, Values
from dllint.code.loaders.loader import Loader
from dllint.code.tensors.plain import are_plain, is_text
from dllint.code.workers import outputs
from dllint.code.workers.datasets import parts, read_by
from dllint.syntax.dtypes import DTYPE_BYTES

if TYPE_CHECKING:
    from dllint.code.program import Program

_FACTORIES = frozenset(f"torch.{name}" for name in ("empty", "full", "ones", "rand", "randint", "randn", "zeros"))
_FIXED_SIZE = frozenset({"Resize", "CenterCrop", "RandomCrop", "RandomResizedCrop"})
_NUMPY_FACTORIES = frozenset(f"numpy.{name}" for name in ("empty", "full", "ones", "zeros"))
_TRANSFORMS = "torchvision.transforms"
_TENSORS = "torch.utils.data.TensorDataset"
_COMPOSES = (f"{_TRANSFORMS}.Compose", f"{_TRANSFORMS}.v2.Compose")
_COLOUR = frozenset({"CIFAR10", "CIFAR100", "FakeData", "ImageFolder", "ImageNet", "Places365", "STL10", "SVHN"})
"""Datasets of torchvision whose images have three channels."""
_SIDES = {"CIFAR10": 32, "CIFAR100": 32, "SVHN": 32, "STL10": 96, "EMNIST": 28, "FashionMNIST": 28, "KMNIST": 28}
_SIDES |= {"MNIST": 28, "QMNIST": 28}
"""Height and width of the images of datasets that hold them in one size."""
_TRANSFORM_AT = {"ImageFolder": 1, "CIFAR10": 2, "CIFAR100": 2, "FashionMNIST": 2, "KMNIST": 2, "MNIST": 2, "SVHN": 2}
_TRANSFORM_AT |= {"FakeData": 3, "STL10": 3}
"""Where `transform` stands among the positional arguments."""
_DEEPEST = 6
_NUMBERS = frozenset({"bool", "float", "int", "len"})
_CHANGING = frozenset({"FiveCrop", "Lambda", "Pad", "RandomApply", "RandomChoice", "TenCrop", "ToDtype"})
"""Transforms whose outcome may be larger than what goes in."""


class Sample(NamedTuple):
    """The tensors of one sample."""

    bytes: int
    is_exact: bool
    """Whether all of it could be read off the code; else it has so many bytes at least."""


class _Reading:
    """One look at a sample."""

    def __init__(self, ev: Evaluator) -> None:
        self.ev = ev
        self.is_exact = True

    def least(self, sizes: Sequence[int]) -> int:
        """The smallest of the sizes that something can have; none counts as nothing."""
        self.is_exact = self.is_exact and len(set(sizes)) == 1
        return min(sizes, default=0)


def sample_of(loader: Loader) -> Sample | None:
    """The tensors of one sample of a loader with the default collate function; None if unknown."""
    if not _is_collated_by_default(loader):
        return Sample(0, is_exact=True) if _hands_on_plain_objects(loader) else None
    program = loader.program
    of = _Reading(program.evaluator)
    own = [_of_dataset(of, program, instance) for instance in read_by(program, loader)]
    sizes = own or [_of_external(of, program, value) for value in loader.dataset_values()]
    is_known = bool(sizes) and (all(sizes) or (bool(own) and of.is_exact))
    return Sample(of.least(sizes), of.is_exact) if is_known else None


def _is_collated_by_default(loader: Loader) -> bool:
    collate = loader.option("collate_fn")
    return collate.absent is True or all(isinstance(v, Const) and v.value is None for v in collate.values)


def _hands_on_plain_objects(loader: Loader) -> bool:
    """Whether a collate function hands on the samples as it got them, and these hold no tensor."""
    collates, datasets = loader.option("collate_fn").values, loader.dataset_values()
    if not all(isinstance(v, Function) and outputs.passes_on(v.scope) for v in collates):
        return False
    given = [o for v in datasets if isinstance(v, Instance) for o in outputs.samples(loader.program, v)]
    is_seen = bool(given) and all(isinstance(value, Instance) for value in datasets)
    return is_seen and all(are_plain(output.parts(loader.program)) for output in given)


def _of_dataset(of: _Reading, program: Program, instance: Instance) -> int:
    return of.least([_bytes(of, each.node, each.frame, 0) for each in outputs.samples(program, instance)])


def _of_external(of: _Reading, program: Program, value: Value) -> int:
    """A dataset of a library, also a part of one: of torchvision an image through its `transform`, and a label; of a
    TensorDataset a row of each tensor."""
    found = list(parts(program, value))
    sizes = [_of_torchvision(of, part) for part in found if _is_torchvision(part)]
    sizes += [_of_tensors(of, part) for part in found if isinstance(part, Product) and part.name == _TENSORS]
    of.is_exact = of.is_exact and len(sizes) == len(found)
    return of.least(sizes)


def _is_torchvision(value: Value) -> bool:
    return isinstance(value, Product) and value.name.startswith("torchvision.datasets.")


def _of_torchvision(of: _Reading, value: Value) -> int:
    assert isinstance(value, Product)
    name = value.name.rpartition(".")[2]
    transform = _argument(value.node, "transform", _TRANSFORM_AT.get(name))
    if transform is None:
        return 0
    channels, side = 3 if name in _COLOUR else 1, _SIDES.get(name, 0)
    return of.least([_transformed(of, v, channels, side) for v in of.ev.infer(transform, value.frame)])


def _of_tensors(of: _Reading, dataset: Product) -> int:
    size = 0
    for argument in dataset.node.args:
        made = of.ev.infer(argument, dataset.frame)
        factories = [value for value in made if isinstance(value, Product) and value.name in _FACTORIES]
        row = of.least([_of_factory(of, value, leading=1) for value in factories])
        of.is_exact = of.is_exact and row > 0 and len(factories) == len(made)
        size += row
    return size


def _argument(call: ast.Call, name: str, position: int | None) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if position is None or position >= len(call.args) or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    return call.args[position]


def _bytes(of: _Reading, node: ast.expr, frame: Frame, depth: int) -> int:
    """Bytes of what an expression of a `__getitem__` yields."""
    if depth > _DEEPEST:
        return 0
    if isinstance(node, (ast.Tuple, ast.List)):
        return sum(_bytes(of, item, frame, depth + 1) for item in node.elts)
    if isinstance(node, ast.Dict):
        return sum(_bytes(of, item, frame, depth + 1) for item in node.values)
    if isinstance(node, ast.Call):
        called = _of_call(of, node, frame, depth)
        if called:
            return called
    values = of.ev.infer(node, frame)
    if _is_number(node, values) or (values and all(map(is_text, values))):
        return 0
    size = of.least([_of_value(of, value, depth) for value in values])
    of.is_exact = of.is_exact and size > 0
    return size


def _is_number(node: ast.expr, values: Values) -> bool:
    """Whether it certainly is a number, such as a label: its eight bytes do not matter."""
    if isinstance(node, ast.Call):
        return dotted(node.func) in _NUMBERS
    return bool(values) and all(isinstance(v, Const) and isinstance(v.value, (int, float)) for v in values)


def _of_call(of: _Reading, node: ast.Call, frame: Frame, depth: int) -> int:
    """A call of a transform, or a conversion of what has a size."""
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("clone", "contiguous", "requires_grad_", "detach"):
        return _bytes(of, node.func.value, frame, depth + 1)
    channels = 3 if _converts_to_colour(frame) else 1
    sizes = [_transformed(of, value, channels) for value in of.ev.infer(node.func, frame)]
    if not any(sizes):
        return 0
    return of.least(sizes)


def _converts_to_colour(frame: Frame) -> bool:
    return "RGB" in frame.scope.texts


def _of_value(of: _Reading, value: Value, depth: int) -> int:
    if isinstance(value, Collection) and value.kind in ("tuple", "list") and value.items:
        return sum(_bytes(of, item, value.frame, depth + 1) for item in value.items)
    if isinstance(value, Collection) and value.kind == "dict":
        return sum(_bytes(of, item, value.frame, depth + 1) for item in value.items)
    if not isinstance(value, Product):
        return 0
    if value.name in _FACTORIES or value.name in _NUMPY_FACTORIES:
        return _of_factory(of, value)
    if value.node.args and value.name in ("torch.from_numpy", "torch.as_tensor", "torch.tensor", "torch.clone"):
        of.is_exact = of.is_exact and not value.node.keywords
        return _bytes(of, value.node.args[0], value.frame, depth + 1)
    return _of_call(of, value.node, value.frame, depth + 1)


def _of_factory(of: _Reading, made: Product, leading: int = 0) -> int:
    """Bytes of an array; without the first so many of its dimensions."""
    call, frame = made.node, made.frame
    arguments = list(call.args)
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    if "size" in named or "shape" in named:
        arguments = [named.get("size") or named["shape"]]
    elif made.name == "torch.randint":
        arguments = list(filter(_is_display, arguments))[:1]
    elif made.name.endswith((".full",)) or made.name.startswith("numpy."):
        arguments = arguments[:1]
    if len(arguments) == 1:
        shapes = of.ev.infer(arguments[0], frame)
        if isinstance(arguments[0], (ast.Tuple, ast.List)):
            arguments = list(arguments[0].elts)
        elif not shapes or not all(isinstance(shape, Const) for shape in shapes):
            return 0
    if any(isinstance(argument, ast.Starred) for argument in arguments):
        return 0
    count = 1
    for argument in arguments[leading:]:
        sizes = [v.value if isinstance(v, Const) else None for v in of.ev.infer(argument, frame)]
        whole = [size for size in sizes if isinstance(size, int)]
        if not whole or len(whole) < len(sizes):
            return 0
        count *= of.least(whole)
    dtype = named.get("dtype")
    of.is_exact = of.is_exact and (dtype is None or dotted(dtype).rpartition(".")[2] in DTYPE_BYTES)
    default = 8 if made.name == "torch.randint" or made.name.startswith("numpy.") else 4
    return count * _dtype_bytes(dtype, default) if arguments else 0


def _is_display(node: ast.expr) -> bool:
    return isinstance(node, (ast.Tuple, ast.List))


def _dtype_bytes(node: ast.expr | None, default: int) -> int:
    return default if node is None else DTYPE_BYTES.get(dotted(node).rpartition(".")[2], 1)


def _transformed(of: _Reading, value: Value, channels: int, side: int = 0) -> int:
    """Bytes of the image that a transform of torchvision yields: float32, in the last fixed size.

    `side`: the height and width of the images that go in; 0 where these differ.
    """
    if not isinstance(value, Product):
        return 0
    if value.name not in _COMPOSES:
        return side * side * channels * 4 if value.name == f"{_TRANSFORMS}.ToTensor" else 0
    steps = [v for argument in value.node.args[:1] for v in of.ev.infer(argument, value.frame)]
    if len(steps) != 1 or not isinstance(steps[0], Collection):
        return 0
    size, is_tensor = side * side, False
    for item in steps[0].items:
        for made in of.ev.infer(item, steps[0].frame):
            if not isinstance(made, Product) or not made.name.startswith(_TRANSFORMS):
                return 0
            name = made.name.rpartition(".")[2]
            is_tensor = is_tensor or name in ("ToTensor", "ToDtype", "ConvertImageDtype")
            size = _pixels(of, made, is_square=side > 0) if name in _FIXED_SIZE else size
            channels = max(channels, _channels(made))
            of.is_exact = of.is_exact and name not in _CHANGING
    # One channel is what an image has at least; only some datasets hold images in one size and kind.
    of.is_exact = of.is_exact and (channels > 1 or side > 0)
    return size * channels * 4 if is_tensor else 0


def _channels(made: Product) -> int:
    """How many channels a `Normalize` works on; 1 for any other step."""
    first = made.node.args[0] if made.node.args else None
    first = next((keyword.value for keyword in made.node.keywords if keyword.arg == "mean"), first)
    if made.name.endswith(".Normalize") and isinstance(first, (ast.Tuple, ast.List)):
        return len(first.elts)
    return 1


def _pixels(of: _Reading, made: Product, *, is_square: bool) -> int:
    """Height times width that a transform cuts or scales to; 0 where it is not fixed, as in `Resize(256)`.

    `is_square`: whether the images that go in are as high as wide; a single side then is both.
    """
    node = (
        made.node.args[0]
        if made.node.args
        else next((keyword.value for keyword in made.node.keywords if keyword.arg == "size"), None)
    )
    if node is None:
        return 0
    sides = _sides(of, of.ev.infer(node, made.frame))
    if len(sides) == 1 and made.name.endswith(".Resize") and not is_square:
        return 0
    return sides[0] * sides[-1] if sides else 0


def _sides(of: _Reading, values: Values) -> list[int]:
    if len(values) != 1:
        return []
    value = values[0]
    if isinstance(value, Const) and isinstance(value.value, int):
        return [value.value]
    if isinstance(value, Collection) and len(value.items) == 2:
        found = [v.value for item in value.items for v in of.ev.infer(item, value.frame) if isinstance(v, Const)]
        return [side for side in found if isinstance(side, int)] if len(found) == 2 else []
    return []
