"""`torch.load` without `map_location`: it brings a tensor back to the device that it was saved from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language import classes
from dllint.code.language.links import parent, scope_of
from dllint.code.language.scopes import ClassScope, FunctionScope, last_name
from dllint.code.language.values import Collection, Const, Derived, External, Frame, Product, Value, Values
from dllint.code.tensors import resident, saved_files
from dllint.code.workers import datasets
from dllint.code.workers.beside import is_small_by_name

if TYPE_CHECKING:
    from dllint.code.program import Program

LOAD = frozenset({"torch.load"})
_MAKES_FILES = frozenset({"save", "torch_save", "download", "_download", "download_url"})

_DEEPEST = 4
_TEXTS = (
    "caption",
    "description",
    "item",
    "prompt",
    "question",
    "record",
    "sentence",
    "text",
    "token",
    "url",
    "vocab",
    "word",
)
"""Words in names of entries that are lists of texts or of records."""
_TO_ARRAY = frozenset({"numpy", *(name.rpartition(".")[2] for name in apis.TAKE_NO_CUDA)})
_ONLY_OF_TENSORS = frozenset(
    f".{name}()"
    for name in ("float", "long", "half", "double", "contiguous", "detach", "permute", "squeeze", "unsqueeze", "view")
)
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


def may_bring_cuda(program: Program, call: ast.Call, frame: Frame, entry: str = "") -> bool:
    """Whether what a call of `torch.load` gives, or the entry of this name in it, may be a CUDA tensor: by the call, by
    what is done with it, and by who makes the file."""
    if not keeps_device(program, call, frame) or _goes_to_numpy(program, call):
        return False
    return not saved_files.are_of_cpu(program, call, entry)


def _goes_to_numpy(program: Program, call: ast.Call) -> bool:
    """`torch.load(path)["x"].numpy()`, also later on: that fails for CUDA tensors in any process, so the files are of
    the CPU."""
    scope = scope_of(call)
    owner = classes.owner_of(scope)
    scopes = {scope} if owner is None else {scope, *owner.methods.values()}
    if any(_is_turned_to_array(program, call, Frame(at)) for at in scopes):
        return True
    callers = program.call_sites(scope) if isinstance(scope, FunctionScope) else []
    return bool(callers) and all(_is_turned_to_array(program, call, caller) for _, caller in callers)


def _is_turned_to_array(program: Program, load: ast.Call, frame: Frame) -> bool:
    """Whether a function takes what a load gives as a NumPy array."""
    for call in frame.scope.index().calls:
        if last_name(call) in _TO_ARRAY:
            taken = _taken_as_array(program, call, frame)
            for value in (part for one in taken for part in _spelled_out(program, one)):
                steps = list(value.chain()) if isinstance(value, Derived) else []
                origin = steps[-1].base if steps else value
                if (
                    isinstance(origin, Product)
                    and origin.node is load
                    and all(s.via not in _LEAVES_DEVICE for s in steps)
                ):
                    return True
    return False


def _spelled_out(program: Program, value: Value) -> Iterator[Value]:
    """A value, or those of a tuple or list that the source spells out: `np.hstack((low, high))`."""
    if not isinstance(value, Collection) or value.each is not None:
        yield value
        return
    for item in value.items[:10]:
        yield from program.evaluator.values(item, value.frame)


def _taken_as_array(program: Program, call: ast.Call, frame: Frame) -> Values:
    """What must be no CUDA tensor for a call to succeed."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "numpy" and not call.args:
        return program.evaluator.values(call.func.value, frame)
    named = any(
        isinstance(v, External) and v.name in apis.TAKE_NO_CUDA for v in program.evaluator.hint(call.func, frame)
    )
    return program.evaluator.values(call.args[0], frame) if named and call.args else ()


def _entry(steps: list[Derived]) -> str:
    """The name of the entry that the steps, the last first, take, if nothing after it is what only tensors have.

    Numbers and texts are saved beside tensors.
    """
    for step in steps:
        if step.via in _ONLY_OF_TENSORS:
            return ""
        key = step.node.slice if step.via == "[]" and isinstance(step.node, ast.Subscript) else None
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            return key.value
    return ""


def _named(steps: list[Derived]) -> str:
    """The name of the entry that is taken of what is loaded, whatever becomes of it."""
    keys = (step.node.slice for step in reversed(steps) if step.via == "[]" and isinstance(step.node, ast.Subscript))
    first = next(keys, None)
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""


def entry_of(call: ast.Call) -> str:
    """The one entry that a function takes of what it loads: `"features"` of `data["features"]`; empty for several."""
    around, scope = parent(call), scope_of(call)
    names = [t.id for t in around.targets if isinstance(t, ast.Name)] if isinstance(around, ast.Assign) else []
    taken = [s for s in scope.index().subscripts if isinstance(s.value, ast.Name) and s.value.id in names]
    taken += [around] if isinstance(around, ast.Subscript) and around.value is call else []
    keys = {s.slice.value if isinstance(s.slice, ast.Constant) else None for s in taken}
    key = keys.pop() if len(keys) == 1 else None
    return key if isinstance(key, str) else ""


def _is_text_by_name(key: str) -> bool:
    """Whether the last word of a key says that it is no tensor: `image_paths`, `captions`."""
    last = key.lower().replace("-", "_").rpartition("_")[2]
    return is_small_by_name(key) or any(word in last for word in _TEXTS)


def loads(
    program: Program, value: Value, depth: int = 0, *, by_index: bool = False, entry: str = ""
) -> Iterator[Product]:
    """The loads that leave the device to the file, whose tensors a value is or holds; `entry` is what is taken of them.

    `by_index` says that workers read it by the index of a sample: then entries that are not named as texts are tensors.
    """
    if depth > _DEEPEST:
        return
    inner: list[Value] = []
    if isinstance(value, Product) and value.name in LOAD:
        if may_bring_cuda(program, value.node, value.frame, entry):
            yield value
    elif isinstance(value, Derived):
        steps = list(value.chain())
        key = _entry(steps)
        known = not key or (by_index and not _is_text_by_name(key))
        if known and not any(step.via in _LEAVES_DEVICE for step in steps):
            yield from loads(program, value.origin, depth + 1, entry=_named(steps))
    elif isinstance(value, Product) and value.name in apis.JOINS:
        inner = [v for a in value.node.args[:1] for v in program.evaluator.values(a, value.frame)]
    elif isinstance(value, Collection):
        inner = [
            *(value.each or ()),
            *(v for item in value.items[:10] for v in program.evaluator.values(item, value.frame)),
        ]
    for part in inner:
        yield from loads(program, part, depth + 1)


def handed_on(program: Program, value: Value) -> Iterator[Product]:
    """The loads whose tensors a dataset of a library is made of, or that are read by items themselves; each once."""
    found: dict[object, Product] = {}
    asked: dict[object, set[str]] = {}
    for container in datasets.parts(program, value):
        for inner in (container, *resident.given(program, container)):
            origin = inner.origin if isinstance(inner, Derived) else inner
            steps = list(inner.chain()) if isinstance(inner, Derived) else []
            if not isinstance(origin, Product) or origin.name not in LOAD or origin.key in found:
                continue
            entries, entry = asked.setdefault(origin.key, set()), _named(steps)
            if entries and not entry:
                continue  # of `torch.load(path)["dataset"]` the entry comes first, then what it is taken of
            entries.add(entry)
            leaves = any(step.via in _LEAVES_DEVICE for step in steps)
            if not leaves and may_bring_cuda(program, origin.node, origin.frame, entry):
                found[origin.key] = origin
    yield from found.values()


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
