"""The device transfers that happen in workers: calls in worker code, and library objects that transfer on their own."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.facts import WorkerEntry
from dllint.code.language import hub_rows
from dllint.code.language.arguments import Argument
from dllint.code.language.elements import contents
from dllint.code.language.scopes import dotted, last_name
from dllint.code.language.values import Collection, Const, Derived, Frame, Product, Value, Values
from dllint.code.loaders.loader import Loader
from dllint.code.tensors import device_guards, devices
from dllint.code.tensors.devices import Device, Transfer
from dllint.code.workers import in_worker
from dllint.code.workers.reach import Step, is_main_only
from dllint.code.workers.ways import called_frame, is_off_the_way
from dllint.finding import Location, Related
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

_MAY_TRANSFER = frozenset({"to", "cuda", "pin_memory", "type", *(name.rpartition(".")[2] for name in apis.CUDA_RAISES)})
"""Last names of the calls that can touch a device without saying `device=`."""
_MOST_PARTS = 40
"""Parts of a container that are looked into."""


@dataclass(frozen=True, slots=True)
class WorkerTransfer:
    """One transfer that a worker makes."""

    device: Device
    text: str
    location: Location
    way: list[Related]
    symbol: str


def in_forked_workers(entry: WorkerEntry, device: Device) -> Iterator[WorkerTransfer]:
    """The transfers of one entry's worker code to a `device` of this kind, where its workers may be forked."""
    if entry.may_fork:
        yield from (found for found in _in_workers(entry) if found.device is device)


def _in_workers(entry: WorkerEntry) -> Iterator[WorkerTransfer]:
    for step in entry.code.steps:
        if _asks_how_workers_start(step):
            continue
        for call, found in in_function(entry.program, _frame_of(entry.program, step)):
            if is_off_the_way(entry.program, step, call) or _is_of_main(entry, step, call):
                continue
            if device_guards.keep_workers_away(entry, step, call):
                continue
            location = step.scope.module.location(call)
            yield WorkerTransfer(found.device, found.text, location, entry.way(step), step.scope.qualname)
    for loader in entry.loaders:
        for call, frame in formatted_in_place(loader):
            yield from _moving(entry, call, frame, "set_format")
    for product in _library_objects(entry):
        yield from _by_library(entry, product)


def _frame_of(program: Program, step: Step) -> Frame:
    """The activation that a step is looked at in: what `**options` holds, only the call that leads here tells."""
    takes_options = step.scope.node.args.kwarg is not None and step.frame.call is None
    return called_frame(program, step) if takes_options else step.frame


def _is_of_main(entry: WorkerEntry, step: Step, call: ast.Call) -> bool:
    """Whether only main passes the device to a helper that workers call as well: these pass it the CPU."""
    frames = device_guards.frames(entry, step)
    if any(f is step.frame or devices.transfer(entry.program, call, f) is not None for f in frames):
        return False
    if step.parent is None:
        return True
    scopes = {at.scope for at in entry.code.steps}
    sites = entry.program.call_sites(step.scope)
    return not any(site is not step.call and caller.scope in scopes for site, caller in sites)


def _asks_how_workers_start(step: Step) -> bool:
    """Whether code on the way asks for the start method: it chooses a device that its workers can use."""
    return any(b"get_start_method" in at.scope.module.words for at, _ in step.hops(step.scope.node))


def in_function(program: Program, frame: Frame) -> list[tuple[ast.Call, Transfer]]:
    """The transfers of one function: the same in every code that runs it."""
    memo = program.facts.transfers_memo
    if frame not in memo:
        has = frame.scope.module.has
        under = has(b"with torch.device(") or (has(b"partial(") and has(b"device="))
        calls = [call for call in frame.scope.index().calls if under or _may_transfer(call)]
        found = [(call, devices.transfer(program, call, frame)) for call in calls]
        memo[frame] = [(c, t) for c, t in found if t is not None and not _is_for_main(program, c, t, frame)]
    return memo[frame]


def _is_for_main(program: Program, call: ast.Call, transfer: Transfer, frame: Frame) -> bool:
    """Whether a transfer happens, or its device is the GPU, in no worker."""
    if is_main_only(program, call, frame):
        return True
    if transfer.named is None or transfer.device is not Device.MAYBE:
        return False
    chosen = _chosen_in_worker(program, transfer.named)
    if chosen is not None:
        return devices.named(program, chosen, transfer.named.frame) is Device.NONE
    values = list(_spelled_out(program, transfer.named.values(program.evaluator)))
    kept = tuple(value for value in values if not _is_value_of_main(program, value))
    return len(kept) < len(values) and devices.of_values(program, kept) is Device.NONE


def _spelled_out(program: Program, values: Values) -> Iterator[Value]:
    """The values that a device can be; of `torch.device(name)` those of the name."""
    for value in values:
        if isinstance(value, Product) and value.name == "torch.device" and value.node.args:
            yield from program.evaluator.values(value.node.args[0], value.frame)
        else:
            yield value


def _is_value_of_main(program: Program, value: Value) -> bool:
    """Whether a value is spelled out where no worker comes to."""
    if not isinstance(value, (Const, Product)) or (isinstance(value, Const) and value.scope is None):
        return False
    scope = value.frame.scope if isinstance(value, Product) else value.scope
    return scope is not None and is_main_only(program, value.node, Frame(scope))


def _chosen_in_worker(program: Program, argument: Argument) -> ast.expr | None:
    """What a worker takes of `("cpu", "cuda")[get_worker_info() is None]`."""
    node = argument.node
    if not isinstance(node, ast.Subscript):
        return None
    outcome = in_worker.in_worker(program, node.slice, argument.frame)
    if outcome is None:
        return None
    if isinstance(node.value, (ast.Tuple, ast.List)):
        return node.value.elts[outcome] if len(node.value.elts) == 2 else None
    pairs = zip(node.value.keys, node.value.values, strict=True) if isinstance(node.value, ast.Dict) else ()
    return next((v for key, v in pairs if isinstance(key, ast.Constant) and key.value is outcome), None)


def _may_transfer(call: ast.Call) -> bool:
    named = any(k.arg in (None, "device", "map_location") for k in call.keywords)
    name = last_name(call.func)
    return named or name in _MAY_TRANSFER or name.endswith("Tensor")


def _library_objects(entry: WorkerEntry) -> Iterator[Value]:
    if entry.dataset is not None:
        for item in entry.dataset.items:
            yield item.value
    for loader in entry.loaders:
        for value in loader.dataset_values():
            yield from nested(entry.program, value)


def nested(program: Program, value: Value) -> Iterator[Value]:
    """A value, and what the library calls and containers that made it were given."""
    return _nested(program, value, set())


def _nested(program: Program, value: Value, seen: set[tuple[object, ...]]) -> Iterator[Value]:
    if value.key in seen or len(seen) > 200:
        return
    seen.add(value.key)
    yield value
    parts: list[Values] = []
    if isinstance(value, Product):
        parts = [program.evaluator.values(a, value.frame) for a in _given(value.node)]
    elif isinstance(value, Derived):
        parts = [(value.base,)]
    elif isinstance(value, Collection) and value.kind != "dict":
        parts = contents(program.evaluator, value, _MOST_PARTS)
    for values in parts:
        for inner in values:
            yield from _nested(program, inner, seen)


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(k.value for k in call.keywords)]


def formatted_in_place(loader: Loader) -> Iterator[tuple[ast.Call, Frame]]:
    """`rows.set_format(device="cuda")` before `DataLoader(rows)`."""
    found = dict(_formatted_by_name(loader))
    for value in loader.dataset_values():
        found.update(hub_rows.set_in_place(loader.program, value, "set_format"))
    yield from found.items()


def _formatted_by_name(loader: Loader) -> Iterator[tuple[ast.Call, Frame]]:
    argument = loader.arguments.get("dataset")
    if argument is None or not isinstance(argument.node, ast.Name):
        return
    for call in argument.frame.scope.index().calls_of("set_format"):
        if isinstance(call.func, ast.Attribute) and dotted(call.func) == f"{argument.node.id}.set_format":
            yield call, argument.frame


def _by_library(entry: WorkerEntry, value: Value) -> Iterator[WorkerTransfer]:
    """MONAI's ToDevice, and `with_format(device=...)` of Hugging Face datasets."""
    if isinstance(value, Product) and value.name in apis.MOVING_TRANSFORMS:
        yield from _moving(entry, value.node, value.frame, value.name.rpartition(".")[2])
    if isinstance(value, Derived):
        for step in value.chain():
            if step.via in (".with_format()", ".set_format()") and isinstance(step.node, ast.Call):
                yield from _moving(entry, step.node, step.frame, step.via[1:-2])


def _moving(entry: WorkerEntry, call: ast.Call, frame: Frame, name: str) -> Iterator[WorkerTransfer]:
    argument = devices.given(entry.program, call, frame, "device")
    if argument is None and name.startswith("ToDevice") and call.args:
        argument = Argument("device", call.args[-1], frame, call.args[-1])
    if argument is None:
        return
    kind = devices.named(entry.program, argument.node, argument.frame)
    if kind is not Device.NONE:
        location = frame.scope.module.location(call)
        text = f"{name}(device={ast.unparse(argument.node)[:40]})"
        yield WorkerTransfer(
            kind, text, location, [loader.related() for loader in entry.loaders[:1]], frame.scope.qualname
        )
