"""Conditions before a transfer that speak of a device or a flag, and keep workers away from it by what these have."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dllint.code.facts import WorkerEntry
from dllint.code.language import classes, conditions, folding
from dllint.code.language.bindings import AttributeWrite
from dllint.code.language.scopes import FunctionScope, dotted
from dllint.code.language.values import Const, Frame, Instance, Product
from dllint.code.workers.reach import Step
from dllint.code.workers.ways import called_frame

if TYPE_CHECKING:
    from dllint.code.program import Program

_DEEPEST = 6


def keep_workers_away(entry: WorkerEntry, step: Step, node: ast.AST) -> bool:
    """Whether no worker comes to `node`: `if device.type == "cuda":`, where the workers' own device is the CPU."""
    for at, place in step.hops(node):
        tests = conditions.leading_to(place)
        if not tests:
            continue
        worker_frames = frames(entry, at)
        if any(all(_verdict(entry.program, t, f) is (not outcome) for f in worker_frames) for t, outcome in tests):
            return True
    return False


def frames(entry: WorkerEntry, step: Step) -> list[Frame]:
    """The activations of a step in workers: one for each construction of the dataset that they read."""
    made = entry.dataset.instances if entry.dataset is not None else []
    return [called_frame(entry.program, step, instance) for instance in made] or [called_frame(entry.program, step)]


def _verdict(program: Program, test: ast.expr, frame: Frame, depth: int = 0) -> bool | None:
    """Whether a condition holds in a frame; None if that is not known."""
    if depth > _DEEPEST or _is_set_from_outside(program, test, frame):
        return None
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _verdict(program, test.operand, frame, depth + 1)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        ends_on = isinstance(test.op, ast.Or)
        found = [_verdict(program, part, frame, depth + 1) for part in test.values]
        return ends_on if ends_on in found else None if None in found else not ends_on
    named = _condition_behind(program, test, frame)
    if named is not None:
        return _verdict(program, *named, depth + 1)
    asked = _about_device(program, test, frame)
    return asked if asked is not None else folding.verdict(program.evaluator, test, frame)


def _condition_behind(program: Program, test: ast.expr, frame: Frame) -> tuple[ast.expr, Frame] | None:
    """The condition that a flag holds: `use_cuda = device != "cpu"`, or `self.gpu = self.device.type == "cuda"`."""
    behind = conditions.flagged(test)
    if behind is not None:
        return behind, frame
    writes = [each for each in _own_writes(program, test, frame) if not each[0].element]
    value = writes[0][0].binding.value if len(writes) == 1 and writes[0][0].binding.kind == "assign" else None
    return (value, writes[0][1]) if isinstance(value, (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Call)) else None


def _own_writes(program: Program, test: ast.expr, frame: Frame) -> Iterator[tuple[AttributeWrite, Frame]]:
    """Where the class stores the attribute of `self` that a condition is."""
    scope, holder = frame.scope, frame.receiver
    if not isinstance(scope, FunctionScope) or not isinstance(holder, Instance) or not isinstance(test, ast.Attribute):
        return
    if dotted(test.value) == scope.receiver_name:
        yield from classes.writes(program.evaluator, holder, test.attr)


def _is_set_from_outside(program: Program, test: ast.expr, frame: Frame) -> bool:
    """Whether a condition reads an attribute that other code sets, too: `dataset.use_cuda = True`."""
    receiver = frame.receiver
    if not isinstance(receiver, Instance):
        return False
    read = {part.attr for part in ast.walk(test) if isinstance(part, ast.Attribute)}
    return any(classes.is_set_from_outside(program.evaluator, receiver.cls, name) for name in read)


def _about_device(program: Program, test: ast.expr, frame: Frame) -> bool | None:
    """The answer to a question about a device: `device.type == "cuda"`, `str(device).startswith("cuda")`."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _compared(program, test.left, test.ops[0], test.comparators[0], frame)
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute) and test.func.attr == "startswith":
        start = _constant_text(test.args[0]) if len(test.args) == 1 else None
        if start is not None:
            texts = _texts(program, test.func.value, frame)
            return _agreed(None if text is None else text.startswith(start) for text in texts)
    return None


def _compared(program: Program, left: ast.expr, op: ast.cmpop, right: ast.expr, frame: Frame) -> bool | None:
    asked, within = _constant_text(right), _constant_text(left)
    if isinstance(op, (ast.Eq, ast.NotEq)) and asked is not None:
        found = _agreed(None if text is None else text == asked for text in _texts(program, left, frame))
    elif isinstance(op, (ast.In, ast.NotIn)) and within is not None:
        found = _agreed(None if text is None else within in text for text in _texts(program, right, frame))
    else:
        return None
    return found if found is None or isinstance(op, (ast.Eq, ast.In)) else not found


def _constant_text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _agreed(answers: Iterable[bool | None]) -> bool | None:
    found = set(answers)
    return found.pop() if len(found) == 1 else None


def _texts(program: Program, node: ast.expr, frame: Frame) -> list[str | None]:
    """The texts that an expression can be; None for what is no text, or not known.

    `torch.device("cpu") == "cpu"` is false on torch: an object is a text only by `str(device)` and `device.type`.
    """
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str" and len(node.args) == 1:
        return _names(program, node.args[0], frame)
    if isinstance(node, ast.Attribute) and node.attr == "type":
        return [None if name is None else name.partition(":")[0] for name in _names(program, node.value, frame)]
    values = program.evaluator.values(node, frame)
    return [v.value if isinstance(v, Const) and isinstance(v.value, str) else None for v in values]


def _names(program: Program, node: ast.expr, frame: Frame) -> list[str | None]:
    """The names of the devices that an expression can be, as texts or as objects."""
    found: list[str | None] = []
    for value in program.evaluator.values(node, frame):
        if isinstance(value, Product) and value.name == "torch.device" and len(value.node.args) == 1:
            found += _names(program, value.node.args[0], value.frame)
        else:
            found.append(value.value if isinstance(value, Const) and isinstance(value.value, str) else None)
    return found
