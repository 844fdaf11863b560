"""`torch.load` without `map_location`: it brings a tensor back to the device that it was saved from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis, classes
from dllint.code.scopes import ClassScope
from dllint.code.values import Collection, Const, Derived, Frame, Product, Value

if TYPE_CHECKING:
    from dllint.code.program import Program

LOAD = frozenset({"torch.load"})
_MAKES_FILES = frozenset({"save", "torch_save", "download", "_download", "download_url"})

_DEEPEST = 4
_LEAVES_DEVICE = frozenset({".cpu()", ".to()", ".numpy()", ".tolist()", ".item()", ".keys()", ".size()", ".shape"})
"""What comes after these is on the CPU, or no tensor."""


def keeps_device(program: Program, call: ast.Call, frame: Frame) -> bool:
    """Whether a call of `torch.load` leaves the device to the file."""
    if len(call.args) > 1 or any(k.arg is None for k in call.keywords):
        return False
    given = next((k.value for k in call.keywords if k.arg == "map_location"), None)
    if given is None:
        return True
    return all(isinstance(v, Const) and v.value is None for v in program.evaluator.values(given, frame))


def loads(program: Program, value: Value, depth: int = 0) -> Iterator[Product]:
    """The loads that leave the device to the file, whose tensors a value is or holds."""
    if depth > _DEEPEST:
        return
    inner: list[Value] = []
    if isinstance(value, Product) and value.name in LOAD:
        if keeps_device(program, value.node, value.frame):
            yield value
    elif isinstance(value, Derived):
        if not any(step.via in _LEAVES_DEVICE for step in value.chain()):
            inner = [value.origin]
    elif isinstance(value, Product) and value.name in apis.JOINS:
        inner = [v for a in value.node.args[:1] for v in program.evaluator.values(a, value.frame)]
    elif isinstance(value, Collection):
        inner = [
            *(value.each or ()),
            *(v for item in value.items[:10] for v in program.evaluator.values(item, value.frame)),
        ]
    for part in inner:
        yield from loads(program, part, depth + 1)


def has_own_files(program: Program, cls: ClassScope) -> bool:
    """Whether a dataset class writes or fetches the files that it loads: a cache, a published data set."""
    memo = program.facts.own_files_memo
    if cls not in memo:
        memo[cls] = _makes_files(program, cls)
    return memo[cls]


def _makes_files(program: Program, cls: ClassScope) -> bool:
    if any(base.startswith("torch_geometric.") for base in classes.external_bases(program.evaluator, cls)):
        return True
    methods = [method for base in classes.project_mro(program.evaluator, cls) for method in base.methods.values()]
    return any(method.calls_of(name) for method in methods for name in _MAKES_FILES)
