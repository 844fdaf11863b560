"""Tensors that carry a graph of gradients: which call made one, and whether gradients are off there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.facts import WorkerEntry
from dllint.code.language import classes, wrappers
from dllint.code.language.scopes import FunctionScope, last_name
from dllint.code.language.values import Collection, Const, Derived, Frame, Instance, Product, Value
from dllint.code.loaders import iterations
from dllint.code.workers.outputs import Output
from dllint.patterns import pattern
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

_OFF = frozenset({"no_grad", "inference_mode", "set_grad_enabled"})
_FROZEN = pattern(rb"requires_grad(_\(\s*(requires_grad\s*=\s*)?|\s*=\s*)False")
_DEEPEST = 4
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult)


@dataclass(frozen=True, slots=True)
class Graph:
    """Where a tensor comes to need a gradient. A leaf (`requires_grad=True`, a parameter) has no graph yet."""

    node: ast.AST
    frame: Frame
    text: str
    leaf: bool = False


def of_value(program: Program, value: Value, output: Output, depth: int = 0) -> Graph | None:
    """The graph that a value carries, or that stands in a library's object that is made from it; None if none does."""
    if depth > _DEEPEST:
        return None
    if isinstance(value, Derived):
        return _of_steps(program, value, output, depth)
    if not isinstance(value, Product):
        return None
    if _asks_for_grad(program, value):
        return Graph(value.node, value.frame, f"{value.name}()", leaf=True)
    if value.name in apis.KEEPS_GRAD_CALLS:
        found = _of_arguments(program, value.node.args[:1], value.frame, output, depth)
        return None if found is None or _is_off(program, value.node, value.frame, output) else _grown(found)
    if value.name in apis.GRAPHS:
        given = [*value.node.args, *(k.value for k in value.node.keywords)]
        return _of_arguments(program, given, value.frame, output, depth)
    return None


def _grown(found: Graph) -> Graph:
    """What is computed from a leaf is none."""
    return Graph(found.node, found.frame, found.text)


def _of_steps(program: Program, value: Derived, output: Output, depth: int) -> Graph | None:
    steps = list(value.chain())
    for number, step in enumerate(steps):
        if step.via in apis.FORWARDS and _is_trainable(program, step.base):
            if not isinstance(step.node, ast.Call) or _is_off(program, step.node, step.frame, output):
                return None
            node, frame = _outermost(step.node, step.frame)
            return Graph(node, frame, f"{ast.unparse(node)[:40]}")
        if step.via == ".requires_grad_()" and number == 0:
            return None if _is_false(step.node) else Graph(step.node, step.frame, "requires_grad_()", leaf=True)
        if step.via == "op" and isinstance(step.node, ast.BinOp):
            return _of_operands(program, step.node, step.frame, output, depth)
        if step.via not in apis.KEEPS_GRAD:
            return None
    found = of_value(program, value.origin, output, depth + 1)
    return _grown(found) if found is not None else None


def _of_operands(program: Program, node: ast.BinOp, frame: Frame, output: Output, depth: int) -> Graph | None:
    """`noise * self.weight`: a graph grows where one of the two has or needs one."""
    if not isinstance(node.op, _ARITHMETIC) or _is_off(program, node, frame, output):
        return None
    found = _of_arguments(program, [node.left, node.right], frame, output, depth)
    if found is None or not found.leaf:
        return found
    return Graph(node, frame, ast.unparse(node)[:40])


def _of_arguments(program: Program, nodes: list[ast.expr], frame: Frame, output: Output, depth: int) -> Graph | None:
    for node in nodes:
        for value in program.evaluator.values(node, frame):
            inner = [value]
            if isinstance(value, Collection):
                inner = [*(value.each or ())]
                inner += [v for item in value.items[:10] for v in program.evaluator.values(item, value.frame)]
            for part in inner:
                found = of_value(program, part, output, depth + 1)
                if found is not None:
                    return found
    return None


def _asks_for_grad(program: Program, value: Product) -> bool:
    if value.name == "torch.nn.Parameter":
        return not any(k.arg == "requires_grad" for k in value.node.keywords)
    given = next((k.value for k in value.node.keywords if k.arg == "requires_grad"), None)
    if given is None or not value.name.startswith("torch."):
        return False
    return all(isinstance(v, Const) and v.value is True for v in program.evaluator.values(given, value.frame))


def _is_false(call: ast.AST) -> bool:
    given = [*call.args, *(k.value for k in call.keywords)] if isinstance(call, ast.Call) else []
    return any(isinstance(node, ast.Constant) and node.value is False for node in given)


def _is_trainable(program: Program, value: Value, depth: int = 0) -> bool:
    """Whether a value is a library's module with parameters that nothing is seen to freeze."""
    if isinstance(value, Derived):
        return all(s.via in apis.GIVES_MODULE for s in value.chain()) and _is_trainable(program, value.origin, depth)
    if not isinstance(value, Product) or _FROZEN.search(value.frame.scope.module.data):
        return False
    if value.name in apis.MODULE_CONTAINERS and depth < _DEEPEST:
        layers = [v for node in value.node.args for v in program.evaluator.values(node, value.frame)]
        return any(_is_trainable(program, layer, depth + 1) for layer in layers)
    if value.name in apis.TRAINABLE_LAYERS or value.name == "timm.create_model":
        return True
    first, *_, last = value.name.split(".")
    if value.name.startswith("torchvision.models."):
        return True
    return first == "transformers" and last == "from_pretrained" and "Model" in value.name


def _outermost(node: ast.AST, frame: Frame) -> tuple[ast.AST, Frame]:
    """The call of the project's own module, for what its `forward` computes."""
    while frame.scope.name in ("forward", "__call__") and frame.call is not None and frame.caller is not None:
        node, frame = frame.call, frame.caller
    return node, frame


def _is_off(program: Program, node: ast.AST, frame: Frame, output: Output) -> bool:
    """Whether gradients are off where a call stands, or in what leads there from the output; or may be."""
    at: Frame | None = frame
    place: ast.AST | None = node
    while at is not None and place is not None:
        if is_off_at(program, place, at) or _FROZEN.search(at.scope.module.data):
            return True
        if at.scope is output.scope or at.scope.name == "__init__":
            return False
        place, at = at.call, at.caller
    return True


def is_off_at(program: Program, node: ast.AST, frame: Frame) -> bool:
    """Whether a node stands under `with torch.no_grad():`, or in a function that is decorated so, be it by a decorator
    or a context manager of the project."""
    scope = frame.scope
    if _is_off_within(program, node, frame):
        return True
    if any(_turns_off(program, decorator, home) for decorator, home in wrappers.decorators(program, scope)):
        return True
    return wrappers.is_entered_where(program, scope, lambda call, inner: _is_off_within(program, call, inner))


def _is_off_within(program: Program, node: ast.AST, frame: Frame) -> bool:
    """The same of what its own function says."""
    if isinstance(frame.scope, FunctionScope) and _OFF & set(frame.scope.decorators):
        return True
    return any(_turns_off(program, context, frame) for context in wrappers.contexts(node))


def _turns_off(program: Program, context: ast.expr, frame: Frame) -> bool:
    """Whether gradients are off, or may be, in the body of `with context:`."""
    if last_name(context) in _OFF or any(_is_switch(program, v) for v in program.evaluator.values(context, frame)):
        return True
    if any(_is_off_within(program, node, inside) for node, inside in wrappers.managed(program, context, frame)):
        return True
    entering = wrappers.methods_of_manager(program, context, frame).get("__enter__")
    methods = entering.owner.methods.values() if entering is not None and entering.owner is not None else ()
    return any(method.calls_of(name) for method in methods for name in _OFF)


def _is_switch(program: Program, value: Value) -> bool:
    """Whether a value is what `torch.no_grad()` gives, or an object of a class that derives from it."""
    if isinstance(value, Instance):
        return any(base.rpartition(".")[2] in _OFF for base in classes.external_bases(program.evaluator, value.cls))
    return isinstance(value, Product) and value.name.rpartition(".")[2] in _OFF


def is_off_in_main(entry: WorkerEntry) -> bool:
    """Whether main turns gradients off before the workers start: a forked worker has them off, too (measured)."""
    program = entry.program
    if program.modules_with("set_grad_enabled"):
        return True
    loaders = {id(loader.call) for loader in entry.loaders}
    modules = {id(m): m for loader in entry.loaders for m in iterations.modules_near(program, loader.module)}
    found = [
        iteration
        for module in modules.values()
        for iteration in iterations.find(program, module)
        if id(iteration.loader.call) in loaders
    ]
    return bool(found) and all(is_off_at(program, iteration.node, iteration.frame) for iteration in found)
