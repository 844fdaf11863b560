"""What calls into the standard library and into torch give, as far as values are concerned."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dllint.code import apis
from dllint.code.language import asking, classes, collecting, elements, folding, options
from dllint.code.language.links import parent, set_parent
from dllint.code.language.scopes import last_name
from dllint.code.language.values import (
    UNKNOWN,
    UNKNOWNS,
    ClassRef,
    Collection,
    Const,
    Derived,
    External,
    Frame,
    Function,
    Instance,
    Number,
    Partial,
    Product,
    Super,
    Unknown,
    Value,
    Values,
    bounds,
    derived,
    merge,
    truth,
)

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator

Handler = Callable[["Evaluator", ast.Call, Frame], Values]

CPU_COUNTS = frozenset(
    {"os.cpu_count", "multiprocessing.cpu_count", "torch.multiprocessing.cpu_count", "psutil.cpu_count"}
)
"""Calls that give the machine's processors, whatever part of them this process may use."""

_ALLOWED_COUNTS = frozenset({"os.process_cpu_count", "torch.get_num_threads", "joblib.cpu_count"})
"""Calls that give the processors that this process may use."""
READS_CONFIG = frozenset(
    (
        *("yaml.safe_load", "yaml.full_load", "yaml.load", "yaml.unsafe_load"),
        *("json.load", "json.loads", "omegaconf.OmegaConf.load"),
    )
)
_NAMESPACES = frozenset({"types.SimpleNamespace", "argparse.Namespace"})
SAME_VALUE = frozenset(
    {
        "easydict.EasyDict",
        *("munch.Munch", "munch.munchify", "munch.Munch.fromDict", "addict.Dict", "box.Box"),
        "omegaconf.OmegaConf.create",
        "omegaconf.OmegaConf.to_container",
        "copy.copy",
        "copy.deepcopy",
        "typing.cast",
        "builtins.iter",
        "ray.put",
        "torch.utils.data.Subset.dataset",
    }
)


def result(ev: Evaluator, name: str, call: ast.Call, frame: Frame) -> Values:
    """What calling the library function or class `name` gives."""
    handler = _HANDLERS.get(name)
    if handler is not None:
        return handler(ev, call, frame)
    if name in READS_CONFIG:
        from dllint.code.language.config_files import contents

        return contents(ev, name, call, frame)
    if name in CPU_COUNTS:
        return (Number(1, None, call, cpus=True),)
    if name in _ALLOWED_COUNTS:
        return (Number(1, None, call),)
    if name in SAME_VALUE and call.args:
        found = ev.infer(call.args[-1] if name == "typing.cast" else call.args[0], frame)
        if name == "builtins.iter" and not any(isinstance(v, Collection) and v.kind == "generator" for v in found):
            return (Product(name, call, frame),)
        return merge((_copied(v, call, frame),) for v in found) if name == "copy.deepcopy" else found
    return (Product(name, call, frame),)


def _copied(value: Value, call: ast.Call, frame: Frame) -> Value:
    """A copy is what its original was; of what a loop meets it has to be known that it is one."""
    if isinstance(value, Derived) and any(step.via == "each" for step in value.chain()):
        return derived(value, ".deepcopy()", call, frame)
    return value


def _is_path(value: Value) -> bool:
    origin = value.origin if isinstance(value, Derived) else value
    return isinstance(origin, Product) and origin.name == "pathlib.Path"


_GIVE_THEMSELVES = frozenset(
    ("to", "cuda", "cpu", "eval", "train", "half", "float", "double", "requires_grad_", "share_memory")
)
"""Methods of a torch module that give the module."""


def method_result(ev: Evaluator, function: Derived, call: ast.Call, frame: Frame) -> Values:
    """What calling a method of a library object, or of a container, gives."""
    base, name = function.base, function.via.removeprefix(".")
    if isinstance(base, Const):  # "{}/{}".format(...), as an f-string
        return (Product("str", ast.Call(func=call, args=[], keywords=[]), frame),)
    if isinstance(base, Instance) and name in _GIVE_THEMSELVES:
        return (base,)
    if isinstance(base, Product) and base.name in apis.PREPARING and name in apis.PREPARING[base.name]:
        return prepared(ev, call, frame)
    if name == "enter_context" and isinstance(base, Product) and len(call.args) == 1:
        return ev.infer(call.args[0], frame)  # the stack of `with ExitStack() as stack` closes it at the end
    if name == "open" and _is_path(base):
        return (Product("builtins.open", call, frame),)
    if isinstance(base, Collection) and base.kind == "dict" and name in ("get", "pop", "setdefault") and call.args:
        return _entry(ev, base, call, frame)
    if isinstance(base, Collection) and name == "copy":
        return (base,)
    if isinstance(base, Product) and base.name == "argparse.ArgumentParser" and name in ("parse_known_args",):
        return (Collection("tuple", call, frame, each=(derived(base, ".parse_args()", call, frame),)),)
    if name == "get" and len(call.args) == 2 and isinstance(base, (Product, Derived)):
        return merge([ev.infer(call.args[1], frame), (Unknown(overrides=True),)])
    return (derived(base, f".{name}()", call, frame),)


def _entry(ev: Evaluator, base: Collection, call: ast.Call, frame: Frame) -> Values:
    """`options.get(key, default)` of a dict that the source spells out."""
    key = call.args[0]
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        found = elements.item(ev, base, key.value, call, frame)
        default = ev.infer(call.args[1], frame) if len(call.args) > 1 else ()
        if elements.is_without(base, key.value) and last_name(call.func) != "setdefault":
            return default or (Const(None, call, frame.scope),)
        return merge([found, default]) if found == UNKNOWNS else found
    return elements.under_key_of(ev, base, key, call, frame)


def attribute(
    ev: Evaluator, value: Product | Derived | Collection | Const, name: str, node: ast.AST, frame: Frame
) -> Values:
    """`value.name`; the dataset that a loader or a Subset was given, as `.dataset` of it."""
    if isinstance(value, Const):
        is_format = name == "format" and isinstance(value.value, str)
        return (derived(value, ".format", node, frame),) if is_format else UNKNOWNS
    if isinstance(value, Product) and value.name in _NAMESPACES:
        return _of_namespace(ev, value, name, node, frame)
    given = _given_dataset(value) if isinstance(value, Product) and name == "dataset" else None
    if given is not None and isinstance(value, Product):
        return ev.infer(given, value.frame)
    if name == "value" and isinstance(value, Product) and value.name.startswith("absl.flags.DEFINE_"):
        return options.flag(ev, value)
    if isinstance(value, Collection) and value.kind == "dict" and elements.under_key(value, name) is not None:
        return elements.item(ev, value, name, node, frame)  # of OmegaConf: a dict has no such attributes
    if name == "type" and isinstance(value, Product) and value.name == "torch.device" and len(value.node.args) == 1:
        return merge((_device_type(v, node, value),) for v in ev.infer(value.node.args[0], value.frame))
    return (derived(value, f".{name}", node, frame),)


def _of_namespace(ev: Evaluator, value: Product, name: str, node: ast.AST, frame: Frame) -> Values:
    """`options.workers` of `options = SimpleNamespace(workers=4)`, if nothing sets that anew."""
    given = argument(value.node, name, len(value.node.args))
    module = value.frame.scope.module
    is_set = any(last_name(write.target.value) != "self" for write, _ in module.writes_of(name))
    if given is None or is_set:
        return (derived(value, f".{name}", node, frame),)
    return ev.infer(given, value.frame)


def _device_type(value: Value, node: ast.AST, device: Product) -> Value:
    """`torch.device("cuda:0").type` is `cuda`."""
    if isinstance(value, Const) and isinstance(value.value, str):
        return Const(value.value.partition(":")[0], node, device.frame.scope)
    return derived(device, ".type", node, device.frame)


def _given_dataset(value: Product) -> ast.expr | None:
    api = apis.LOADERS.get(value.name)
    keeps = value.name == "torch.utils.data.Subset" or (api is not None and api.positional[:1] == ("dataset",))
    return argument(value.node, "dataset", 0) if keeps else None


def argument(call: ast.Call, name: str, position: int) -> ast.expr | None:
    """What a call passes by name, or at a position."""
    given = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
    if given is not None or any(isinstance(a, ast.Starred) for a in call.args[: position + 1]):
        return given
    return call.args[position] if position < len(call.args) else None


def prepared(ev: Evaluator, call: ast.Call, frame: Frame) -> Values:
    """What accelerate's or Fabric's `prepare(...)` gives: a wrapper of each thing that it is given."""
    given = [argument for argument in call.args if not isinstance(argument, ast.Starred)]
    if len(given) == 1 == len(call.args):
        return ev.infer(given[0], frame)
    return (Collection("tuple", call, frame, tuple(given)),) if len(given) == len(call.args) else UNKNOWNS


def merged_call(partial: Partial, call: ast.Call) -> ast.Call:
    """One call with the arguments of a partial and of the call of it."""
    later = {keyword.arg for keyword in call.keywords}
    earlier = [k for k in partial.node.keywords if k.arg is None or k.arg not in later]
    merged = ast.Call(func=call.func, args=[*partial.node.args[1:], *call.args], keywords=[*earlier, *call.keywords])
    ast.copy_location(merged, call)
    set_parent(merged, parent(call))
    return merged


def _super(ev: Evaluator, call: ast.Call, frame: Frame) -> Values:
    owner = classes.owner_of(frame.scope)
    if call.args and isinstance(call.args[0], ast.Name):
        for value in ev.infer(call.args[0], frame):
            if isinstance(value, ClassRef):
                owner = value.cls
    if owner is None:
        return UNKNOWNS
    at: Frame | None = frame
    while at is not None and at.receiver is None:
        at = at.outer
    receiver = at.receiver if at is not None and at.receiver is not None else Instance(owner)
    return (Super(owner, receiver),)


def _partial(ev: Evaluator, call: ast.Call, frame: Frame) -> Values:
    if not call.args:
        return UNKNOWNS
    return merge((Partial(target, call, frame),) for target in ev.infer(call.args[0], frame))


def _number(ev: Evaluator, call: ast.Call, frame: Frame) -> Values:
    if len(call.args) != 1:
        return UNKNOWNS
    found = merge(_environment(ev, value) for value in ev.infer(call.args[0], frame))
    return merge((_as_number(value, call, frame),) for value in found)


def _environment(ev: Evaluator, value: Value) -> Values:
    """The default of `os.environ.get(name, default)`: what holds where nobody sets the variable."""
    if isinstance(value, Product) and value.name in ("os.environ.get", "os.getenv") and len(value.node.args) > 1:
        return merge([ev.infer(value.node.args[1], value.frame), (Unknown(overrides=True),)])
    return (value,)


def _as_number(value: Value, call: ast.Call, frame: Frame) -> Value:
    kinds: dict[str, Callable[[Any], object]] = {"int": int, "round": round}
    kind = kinds.get(last_name(call.func), float)
    if isinstance(value, Const) and isinstance(value.value, (int, float, str, bool)):
        try:
            return Const(kind(value.value), call, frame.scope)
        except (TypeError, ValueError, OverflowError):
            return UNKNOWN
    if isinstance(value, Number):
        return Number(value.low, value.high, value.node, value.cpus and kind is not float, real=kind is float)
    return value if isinstance(value, Unknown) else UNKNOWN


def _bool(ev: Evaluator, call: ast.Call, frame: Frame) -> Values:
    if not call.args:
        return (Const(False, call, frame.scope),)
    verdict = folding.verdict(ev, call.args[0], frame)
    if verdict is None:
        known = [truth(v) for v in ev.infer(call.args[0], frame)]
        return merge((UNKNOWN if k is None else Const(k, call, frame.scope),) for k in known)
    return (Const(verdict, call, frame.scope),)


def _extreme(ev: Evaluator, call: ast.Call, frame: Frame) -> Values:
    """`min(...)` and `max(...)` of numbers, some of which are not known."""
    lowest = last_name(call.func) == "min"
    parts: list[ast.expr] = list(call.args)
    if len(parts) == 1 and isinstance(parts[0], (ast.List, ast.Tuple)):
        parts = list(parts[0].elts)
    spans = []
    cpus = False
    for part in parts:
        found = ev.infer(part, frame)
        cpus = cpus or any(isinstance(v, Number) and v.cpus for v in found)
        known = [bounds(v) for v in found]
        lows = [s[0] for s in known if s is not None and s[0] is not None]
        highs = [s[1] for s in known if s is not None and s[1] is not None]
        whole = len(lows) == len(found) and found
        capped = len(highs) == len(found) and found
        spans.append((min(lows) if whole else None, max(highs) if capped else None))
    if not spans:
        return UNKNOWNS
    pick = min if lowest else max
    lows = [s[0] for s in spans if s[0] is not None]
    highs = [s[1] for s in spans if s[1] is not None]
    if len(lows) == len(highs) == len(spans) and all(low == high for low, high in spans):
        return (Const(pick(lows), call, frame.scope),)
    low = min(lows) if lowest and len(lows) == len(spans) else max(lows) if not lowest and lows else None
    high = min(highs) if lowest and highs else max(highs) if not lowest and len(highs) == len(spans) else None
    return (Number(low, high, call, cpus=cpus and not lowest),) if (low, high) != (None, None) else UNKNOWNS


def _length(ev: Evaluator, call: ast.Call, frame: Frame) -> Values:
    """A number; of a tuple that the source spells out, how many items it has: nothing adds to it."""
    given = ev.infer(call.args[0], frame) if len(call.args) == 1 else ()
    if len(given) == 1 and isinstance(given[0], Product) and given[0].name == "os.sched_getaffinity":
        return (Number(1, None, call),)
    spelled = given[0] if len(given) == 1 and isinstance(given[0], Collection) and given[0].kind == "tuple" else None
    if spelled is None or spelled.each is not None or any(isinstance(part, ast.Starred) for part in spelled.items):
        return _count(ev, call, frame)
    return (Const(len(spelled.items), call, frame.scope),)


def _type(ev: Evaluator, call: ast.Call, frame: Frame) -> Values:
    """The class of an object of the project: `type(self)`."""
    found = ev.infer(call.args[0], frame) if len(call.args) == 1 else ()
    owned = tuple(ClassRef(value.cls) for value in found if isinstance(value, Instance))
    return owned if owned and len(owned) == len(found) else (Product("builtins.type", call, frame),)


def _count(ev: Evaluator, call: ast.Call, frame: Frame) -> Values:
    return (Number(0, None, call),)


def _field(ev: Evaluator, call: ast.Call, frame: Frame) -> Values:
    """`dataclasses.field(default_factory=Config)`: what a new object gets."""
    if call.args:
        return ev.infer(call.args[0], frame)
    for keyword in call.keywords:
        if keyword.arg == "default":
            return ev.infer(keyword.value, frame)
        if keyword.arg == "default_factory":
            return merge(_made(ev, factory, call, frame) for factory in ev.infer(keyword.value, frame))
    return UNKNOWNS


def _made(ev: Evaluator, factory: Value, call: ast.Call, frame: Frame) -> Values:
    if isinstance(factory, ClassRef):
        return (Instance(factory.cls),)
    if isinstance(factory, External) and factory.name in CPU_COUNTS:
        return (Number(1, None, call, cpus=True),)
    if isinstance(factory, External) and not factory.name.startswith("builtins."):
        return (Product(factory.name, call, frame),)
    return ev.returned(factory, None, frame) if isinstance(factory, Function) else UNKNOWNS


_HANDLERS: dict[str, Handler] = {
    "builtins.super": _super,
    "functools.partial": _partial,
    "builtins.int": _number,
    "builtins.float": _number,
    "builtins.round": _number,
    "builtins.bool": _bool,
    "builtins.min": _extreme,
    "builtins.max": _extreme,
    "builtins.len": _length,
    "builtins.type": _type,
    "torch.cuda.device_count": _count,
    "builtins.dict": collecting.dict_call,
    "collections.OrderedDict": collecting.ordered_dict_call,
    "collections.UserDict": collecting.ordered_dict_call,
    "builtins.list": collecting.sequence_call,
    "builtins.tuple": collecting.sequence_call,
    "builtins.set": collecting.sequence_call,
    "builtins.frozenset": collecting.sequence_call,
    "builtins.sorted": collecting.sequence_call,
    "builtins.map": collecting.map_call,
    "builtins.filter": collecting.filter_call,
    "builtins.next": collecting.next_call,
    "dataclasses.field": _field,
    "pydantic.Field": _field,
    "builtins.isinstance": asking.isinstance_call,
    "builtins.hasattr": asking.hasattr_call,
    "builtins.getattr": asking.getattr_call,
}
