"""Values that are certainly not on a GPU: arrays, numbers, and tensors that are made on the CPU or brought there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language.containers import filled_later
from dllint.code.language.links import parent, scope_of
from dllint.code.language.values import Collection, Const, Derived, External, Frame, Number, Product, Value, Values

if TYPE_CHECKING:
    from dllint.code.program import Program

_DEEPEST = 6
_MOST_ITEMS = 20
_LEAVES = frozenset({".cpu()", ".numpy()", ".tolist()", ".item()", ".shape", ".size()", ".keys()"})
"""What comes after these is on the CPU, or no tensor."""
_MOVES = frozenset({".cuda()", ".to()", ".xpu()", ".npu()", ".type()", ".to_device()", "()"})
_OF_ARRAYS = frozenset(
    {*apis.DATA_PACKAGES, "librosa", "pandas", "scipy", "json", "csv", "sklearn", "h5py", "os", "pathlib", "glob"}
)
"""Packages whose functions never give a tensor on a GPU."""
_OF_FILES = ("torchvision.datasets.", "torchaudio.datasets.")
"""Datasets that hold the names of files, or what was read from them."""


def are_on_cpu(program: Program, node: ast.expr, frame: Frame) -> bool:
    """Whether all that an expression can be, and what it holds, is on the CPU."""
    return _is_of_node(program, node, frame, 0)


def _is_of_node(program: Program, node: ast.expr, frame: Frame, depth: int) -> bool:
    return _leaves_at_last(node) or _all(program, program.evaluator.values(node, frame), depth)


def _leaves_at_last(node: ast.AST) -> bool:
    """Whether the last of the calls in a row that says where a tensor goes brings it to the CPU: `x.cpu().view(-1)`."""
    while isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            step = f".{node.func.attr}()"
            if step in _LEAVES or step in _MOVES:
                return step in _LEAVES
        node = node.func if isinstance(node, ast.Call) else node.value
    return False


def _all(program: Program, values: Values, depth: int) -> bool:
    return bool(values) and depth <= _DEEPEST and all(_is_on_cpu(program, value, depth) for value in values)


def _is_on_cpu(program: Program, value: Value, depth: int) -> bool:
    if isinstance(value, (Const, Number)):
        return True
    if isinstance(value, Collection):
        return _holds_cpu(program, value, depth)
    if isinstance(value, Derived):
        return _is_left_there(program, value, depth)
    return isinstance(value, Product) and _is_made_there(program, value, depth)


def _holds_cpu(program: Program, value: Collection, depth: int) -> bool:
    """Whether a container has something in it, and nothing of the GPU."""
    groups = [program.evaluator.values(item, value.frame) for item in value.items[:_MOST_ITEMS]]
    groups += [program.evaluator.bound(binding, value.frame) for binding in filled_later(value)]
    groups += [value.each] if value.each is not None else []
    deeper = list(_stored_deeper(value))
    if not all(_is_of_node(program, stored, value.frame, depth + 1) for stored in deeper):
        return False
    groups = [group for group in groups if not deeper or not all(map(_is_empty, group))]
    return bool(groups or deeper) and all(_all(program, group, depth + 1) for group in groups)


def _stored_deeper(value: Collection) -> Iterator[ast.expr]:
    """What is put into the containers in a container: `latents["train"][name] = latent`."""
    statement = parent(value.node)
    names = [t.id for t in statement.targets if isinstance(t, ast.Name)] if isinstance(statement, ast.Assign) else []
    for target in scope_of(statement).index().subscripts if names and statement is not None else ():
        holder = target.value.value if isinstance(target.value, ast.Subscript) else None
        around = parent(target)
        is_ours = isinstance(holder, ast.Name) and holder.id in names
        if is_ours and isinstance(around, ast.Assign) and target in around.targets:
            yield around.value


def _is_empty(value: Value) -> bool:
    return isinstance(value, Collection) and not value.items and value.each is None and not filled_later(value)


def _is_left_there(program: Program, value: Derived, depth: int) -> bool:
    for step in value.chain():
        if step.via in _LEAVES:
            return True
        if step.via in _MOVES:
            targets = _targets(program, step)
            if any(_names_cpu(program, found) for found in targets):
                return True
            if not targets or not all(_is_data_type(v) for found in targets for v in found):
                return False
    return _is_on_cpu(program, value.origin, depth + 1)


def _targets(program: Program, step: Derived) -> list[Values]:
    """What `x.to(...)` is given; nothing for other moves."""
    call = step.node
    if step.via != ".to()" or not isinstance(call, ast.Call):
        return []
    return [program.evaluator.values(each, step.frame) for each in (*call.args, *(k.value for k in call.keywords))]


def _is_data_type(value: Value) -> bool:
    """`torch.float32`, or a flag such as `non_blocking=True`."""
    return isinstance(value, External) or (isinstance(value, Const) and not isinstance(value.value, str))


def _names_cpu(program: Program, values: Values) -> bool:
    named: list[Value] = []
    for value in values:
        if isinstance(value, Product) and value.name == "torch.device":
            named += _arguments(program, value)
        else:
            named.append(value)
    return bool(named) and all(isinstance(v, Const) and v.value == "cpu" for v in named)


def _arguments(program: Program, value: Product) -> Values:
    return tuple(v for argument in value.node.args[:1] for v in program.evaluator.values(argument, value.frame))


def _is_made_there(program: Program, value: Product, depth: int) -> bool:
    name, call = value.name, value.node
    if name == "str" or name.partition(".")[0] in _OF_ARRAYS or name.startswith(_OF_FILES):
        return True
    at = next((k.value for k in call.keywords if k.arg in ("device", "map_location")), None)
    if at is not None:
        return _names_cpu(program, program.evaluator.values(at, value.frame))
    if any(keyword.arg is None for keyword in call.keywords) or name == "torch.load":
        return False
    if name in apis.FACTORIES and not name.endswith("_like") and name not in apis.JOINS:
        return True
    if name.startswith(("torchvision.", "torchaudio.")) and name in apis.TENSOR_MAKERS:
        return True
    return (
        name.startswith(("torch.", "builtins."))
        and bool(call.args)
        and _all(program, _arguments(program, value), depth + 1)
    )
