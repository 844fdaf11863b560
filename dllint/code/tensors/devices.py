"""Which device an expression names, and which calls bring a tensor there."""

from __future__ import annotations

import ast
from enum import Enum
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language import classes, conditions
from dllint.code.language.arguments import Argument, collect
from dllint.code.language.libcalls import merged_call
from dllint.code.language.links import parent, scope_of
from dllint.code.language.scopes import dotted, last_name
from dllint.code.language.values import (
    Collection,
    Const,
    Derived,
    External,
    Frame,
    Instance,
    Partial,
    Product,
    Unknown,
    Value,
    Values,
    by_default,
)
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

_CONFIGS = frozenset(
    [
        "args",
        "opt",
        "opts",
        "cfg",
        "config",
        "conf",
        "hparams",
        "params",
        "settings",
        "flags",
        "FLAGS",
        "options",
        "self",
        "cls",
    ]
)
"""Names of objects whose `.device` is a setting. The `.device` of anything else is that of a tensor or module."""


_ACCELERATORS = frozenset({"accelerate.Accelerator", "lightning.fabric.Fabric", "lightning.Fabric"})
"""Objects whose `.device` is that of the training."""


_DEEPEST = 6


class Device(Enum):
    """What is known of the device that something goes to."""

    CUDA = "cuda"
    """On every way an accelerator."""
    MAYBE = "maybe"
    """A device, and not the CPU on every way."""
    NONE = "none"
    """The CPU, the device of an input, or no device at all (a dtype)."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """A call that touches a device: `text` is how it reads in a message."""

    device: Device
    text: str
    where_available: bool = True
    """Whether the source itself names an accelerator: it is used wherever there is one."""
    named: Argument | None = None
    """The argument that names the device."""


def named(program: Program, node: ast.expr, frame: Frame) -> Device:
    """The device that an argument names."""
    return of_values(program, program.evaluator.values(node, frame))


def of_values(program: Program, values: Values, above: frozenset[ast.AST] = frozenset()) -> Device:
    """The device that these values name together; `above`: the calls of `torch.device` that ask for them."""
    values = by_default(values)
    if any(isinstance(value, Const) and value.value is None for value in values):
        # An optional device, left out by default: what a caller may pass instead is not evidence.
        values = tuple(value for value in values if not isinstance(value, Unknown))
    elif any(isinstance(value, Const) and value.value == "cpu" for value in values):
        # The CPU by default: the parameter of a setter that nobody calls is not evidence.
        values = tuple(value for value in values if not (isinstance(value, Unknown) and value.uncalled))
    found = {_of_value(program, value, above) for value in values}
    found.discard(None)
    if not found or found == {Device.NONE}:
        return Device.NONE
    return Device.CUDA if found == {Device.CUDA} else Device.MAYBE


def _of_value(program: Program, value: Value, above: frozenset[ast.AST] = frozenset()) -> Device | None:
    if isinstance(value, Const):
        return _of_constant(value.value)
    if isinstance(value, Product) and value.name == "torch.device":
        if value.node in above:  # `self.device = torch.device(self.device)`
            return None
        return of_values(program, _named_in(program, value), above | {value.node})
    if isinstance(value, Product) and value.name == "str" and isinstance(value.node.func, ast.JoinedStr):
        first = value.node.func.values[:1]
        text = first[0].value if first and isinstance(first[0], ast.Constant) else ""
        return _of_constant(text)
    if isinstance(value, Unknown) and "device" in value.name.lower():
        holder = value.name.rpartition(".")[0].rpartition(".")[2]
        return Device.MAYBE if not holder or holder in _CONFIGS else Device.NONE
    if isinstance(value, Derived) and value.via == ".device" and isinstance(value.base, Product):
        return Device.MAYBE if value.base.name in _ACCELERATORS else Device.NONE
    if isinstance(value, Product) and "device" in value.name.rpartition(".")[2].lower():
        return Device.MAYBE
    return Device.NONE


def _named_in(program: Program, device: Product) -> Values:
    """What a call of `torch.device` is given."""
    arguments = [*device.node.args, *(k.value for k in device.node.keywords if k.arg == "type")]
    return program.evaluator.values(arguments[0], device.frame) if arguments else ()


def _of_constant(value: object) -> Device | None:
    if isinstance(value, str):
        return Device.CUDA if value.split(":")[0] == "cuda" else Device.NONE
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return Device.CUDA  # the number of an accelerator; -1 is what some libraries call the CPU
    return None if value is None else Device.NONE


def can_be_cuda(program: Program, values: Values, above: frozenset[ast.AST] = frozenset()) -> bool:
    """Whether the source itself names an accelerator among what a device can be: where there is one, it is used."""
    for value in by_default(values):
        if isinstance(value, Product) and value.name == "torch.device":
            inner = _named_in(program, value) if value.node not in above else ()
            if can_be_cuda(program, inner, above | {value.node}):
                return True
        elif isinstance(value, (Const, Product)) and _of_value(program, value) is Device.CUDA:
            return True
    return False


def transfer(program: Program, call: ast.Call, frame: Frame) -> Transfer | None:
    """What a call does to a device; None if it touches none but the CPU."""
    function = call.func
    if _follows_input(call):
        return None
    if isinstance(function, ast.Attribute):
        method = _method_transfer(program, call, function, frame)
        if method is not None:
            return method
    for value in program.evaluator.values(function, frame):
        made = _of_function(program, value, call, frame)
        if made is not None:
            return made
    return None


def _of_function(program: Program, function: Value, call: ast.Call, frame: Frame) -> Transfer | None:
    """What calling a library's function does, also a partial of it."""
    if isinstance(function, Partial):
        return _of_function(program, function.target, merged_call(function, call), frame)
    if not isinstance(function, External):
        return None
    name = function.name
    if name in apis.CUDA_RAISES or (name.startswith("torch.cuda.") and name.endswith("Tensor")):
        return Transfer(Device.CUDA, f"{name}()")
    if name == "torch.load":
        return _to(program, given(program, call, frame, "map_location"), "torch.load(map_location=...)")
    device = given(program, call, frame, "device")
    if device is None:
        return _under_device(program, call, frame, name) if name in apis.FACTORIES else None
    on_device = name in apis.FACTORIES | apis.MODELS_ON_DEVICE or name.startswith("torch.nn.")
    return _to(program, device, f"{name}(device=...)") if on_device else None


def _follows_input(call: ast.Call) -> bool:
    """Whether the call is only made for what is on the GPU already: `if x.is_cuda`, `x.device.type == "cuda"`."""
    for test, outcome in conditions.leading_to(call):
        parts = list(ast.walk(test))
        if outcome and any(_is_input_flag(part) for part in parts):
            return True
        if _asks_for_cuda(test) is outcome:
            return True
    return False


def _is_input_flag(node: ast.AST) -> bool:
    """`x.is_cuda` of a tensor; `self.is_cuda` is a flag that the program sets."""
    return isinstance(node, ast.Attribute) and node.attr == "is_cuda" and last_name(node.value) not in _CONFIGS


def _asks_for_cuda(test: ast.expr) -> bool | None:
    """True for `x.device.type == "cuda"`, False for `!=`, None for a test that asks something else."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], (ast.Eq, ast.NotEq)):
        return None
    left, right = test.left, test.comparators[0]
    if not (isinstance(right, ast.Constant) and right.value == "cuda"):
        return None
    holder = left.value if isinstance(left, ast.Attribute) and left.attr == "type" else left
    if last_name(holder) != "device" or (isinstance(holder, ast.Attribute) and last_name(holder.value) in _CONFIGS):
        return None
    return isinstance(test.ops[0], ast.Eq)


def _under_device(program: Program, call: ast.Call, frame: Frame, name: str) -> Transfer | None:
    """A factory under `with torch.device("cuda"):` makes its tensor there."""
    at = parent(call)
    while at is not None and not isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module)):
        for item in at.items if isinstance(at, ast.With) else ():
            found = program.evaluator.values(item.context_expr, frame)
            if all(isinstance(v, Product) and v.name == "torch.device" for v in found):
                device = Argument("device", item.context_expr, frame, item.context_expr)
                return _to(program, device, f"{name}() under {ast.unparse(item.context_expr)}")
        at = parent(at)
    return None


def _method_transfer(program: Program, call: ast.Call, function: ast.Attribute, frame: Frame) -> Transfer | None:
    name = function.attr
    if name == "cuda" and _is_tensor_like(program, function.value, frame, name):
        return Transfer(Device.CUDA, ".cuda()")
    if name == "pin_memory" and not call.args and _is_made_by_torch(program, function.value, frame):
        return Transfer(Device.CUDA, ".pin_memory()")
    if name == "to" and _is_tensor_like(program, function.value, frame, name):
        return _to(program, given(program, call, frame, "device", 0), ".to(...)")
    if name == "type" and len(call.args) == 1 and _are_cuda_types(program.evaluator.values(call.args[0], frame)):
        return Transfer(Device.CUDA, f".type({ast.unparse(call.args[0])[:40]})")
    if name in apis.TENSOR_FACTORY_METHODS:
        return _to(program, given(program, call, frame, "device"), f".{name}(device=...)")
    return None


def _are_cuda_types(values: Values) -> bool:
    """`torch.cuda.FloatTensor`, the class or its name."""
    names = [v.name if isinstance(v, External) else v.value if isinstance(v, Const) else None for v in values]
    return all(isinstance(n, str) and n.startswith("torch.cuda.") and n.endswith("Tensor") for n in names)


def _to(program: Program, argument: Argument | None, text: str) -> Transfer | None:
    if argument is None:
        return None
    values = argument.values(program.evaluator)
    device = of_values(program, values)
    if device is Device.NONE:
        return None
    known = can_be_cuda(program, values)
    certain = device if argument.certain or argument.surely else Device.MAYBE
    return Transfer(certain, text.replace("...", ast.unparse(argument.node)[:40]), known, argument)


def given(program: Program, call: ast.Call, frame: Frame, name: str, position: int | None = None) -> Argument | None:
    """What a call passes by name, or at a position; also as part of a `**options` or `*arguments` that can be seen."""
    found = collect(program.evaluator, call, frame)
    if name in found.named or position is None:
        return found.named.get(name)
    return found.positional[position] if position < len(found.positional) else None


def _is_tensor_like(program: Program, node: ast.expr, frame: Frame, method: str) -> bool:
    """Whether `node.method` is not a method that the project itself defines, and no module's function."""
    for value in program.evaluator.values(node, frame):
        if isinstance(value, External):
            return False
        if isinstance(value, Instance) and classes.method(program.evaluator, value.cls, method) is not None:
            return False
    return True


def _is_made_by_torch(program: Program, node: ast.expr, frame: Frame) -> bool:
    for value in program.evaluator.values(node, frame):
        origin = value.origin if isinstance(value, Derived) else value
        if isinstance(origin, Product) and origin.name.startswith("torch."):
            return True
    return False


def is_on_cuda(program: Program, value: Value, depth: int = 0, *, where_available: bool = False) -> bool:
    """Whether a value is certainly on an accelerator; with `where_available` on machines that have one."""
    if depth > _DEEPEST:
        return False
    if isinstance(value, Derived):
        for step in value.chain():
            if isinstance(step.node, ast.Call) and step.via in (".cuda()", ".to()", ".type()"):
                return _brings(transfer(program, step.node, step.frame), where_available)
            if step.via in (".cpu()", ".numpy()", ".tolist()", ".item()") or _is_other_attribute(step.via):
                return False
        return is_on_cuda(program, value.origin, depth + 1, where_available=where_available)
    if isinstance(value, Product) and value.name in apis.JOINS:
        given = [v for a in value.node.args[:1] for v in program.evaluator.values(a, value.frame)]
        if any(_holds_cuda(program, v, depth + 1, where_available=where_available) for v in given):
            return True
    if isinstance(value, Product) and value.name not in apis.CUDA_RAISES:
        return _brings(transfer(program, value.node, value.frame), where_available)
    return False


def _brings(moved: Transfer | None, where_available: bool) -> bool:
    return moved is not None and (moved.device is Device.CUDA or (where_available and moved.where_available))


def _holds_cuda(program: Program, value: Value, depth: int, *, where_available: bool) -> bool:
    if isinstance(value, Collection):
        parts = list(value.each or ()) + [v for i in value.items[:20] for v in program.evaluator.values(i, value.frame)]
        return any(is_on_cuda(program, part, depth + 1, where_available=where_available) for part in parts)
    return is_on_cuda(program, value, depth + 1, where_available=where_available)


def _is_other_attribute(via: str) -> bool:
    """`model.hparams`: not the tensor itself, nor a view of it."""
    return via.startswith(".") and not via.endswith("()") and via not in (".data", ".T", ".mT", ".grad", ".weight")


def is_moved_in_place(program: Program, node: ast.AST | None, frame: Frame) -> bool:
    """Whether a statement such as `net.cuda()` moves what `node` (a name, or an attribute of the object) holds."""
    key = dotted(node) if node is not None else ""
    if not key:
        return False
    for call in scope_of(node).index().calls if node is not None else ():
        moves = dotted(call.func) in (f"{key}.cuda", f"{key}.to")
        if moves and isinstance(parent(call), ast.Expr):
            moved = transfer(program, call, frame)
            if moved is not None and moved.device is Device.CUDA:
                return True
    return False
