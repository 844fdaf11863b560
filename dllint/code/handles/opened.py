"""Open handles: values that belong to the process that opened them, and objects that keep using one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.apis import HandleApi
from dllint.code.language import conditions
from dllint.code.language.links import parent, scope_of
from dllint.code.language.memory_files import is_over_memory
from dllint.code.language.scopes import Scope
from dllint.code.language.values import Const, Derived, Frame, Number, Product, Value
from dllint.code.processes import threads
from dllint.code.workers import archives
from dllint.code.workers.reach import WorkerCode
from dllint.code.workers.state import Item
from dllint.finding import Location
from dllint.records import dataclass, replace

if TYPE_CHECKING:
    from dllint.code.program import Program


@dataclass(frozen=True, slots=True)
class Handle:
    """An open handle, or an object that keeps using one."""

    api: HandleApi
    opened: Product
    derived: bool

    @property
    def location(self) -> Location:
        """Where it is opened."""
        return self.opened.frame.scope.module.location(self.opened.node)

    @property
    def is_guarded(self) -> bool:
        """Whether it is opened under the main guard: only forked workers have it then."""
        return conditions.is_guarded(self.opened.node)

    @property
    def call(self) -> str:
        """The opening call as a reader knows it: `h5py.File`."""
        return self.opened.name.removeprefix("builtins.")


def handle_of(program: Program, value: Value, above: frozenset[ast.AST] = frozenset()) -> Handle | None:
    """The handle that a value is, or keeps using; `above`: the wrapping calls that it is asked for."""
    if isinstance(value, Product):
        api = _api(program, value)
        if api is not None:
            return Handle(api, value, derived=False)
        return _wrapped(program, value, above) if value.name in apis.HANDLE_WRAPPERS else None
    if not isinstance(value, Derived) or not isinstance(value.origin, Product):
        return None
    origin = value.origin
    api = _api(program, origin)
    if api is None:
        return _picked(program, value, origin, above)
    steps = list(value.chain())[::-1]
    if any(not _keeps(program, api, step, first=number == 0) for number, step in enumerate(steps)):
        return None
    if origin.name.startswith("lmdb."):  # one transaction holds its one reader slot: measured clean under fork
        api = _mild_lmdb(api)
    return Handle(api, origin, derived=True)


def _picked(program: Program, value: Derived, origin: Product, above: frozenset[ast.AST]) -> Handle | None:
    """The handle behind what is picked out of an object that was made over it: `zarr.open(store)["0"]`."""
    if origin.name not in apis.HANDLE_WRAPPERS or not origin.name.startswith("zarr."):
        return None
    steps = list(value.chain())[::-1]
    if any(step.via != "[]" or not _is_key(program, step, number == 0) for number, step in enumerate(steps)):
        return None
    return _wrapped(program, origin, above)


def _wrapped(program: Program, value: Product, above: frozenset[ast.AST]) -> Handle | None:
    """The handle that a library object was made over: `csv.reader(file)`, `zarr.group(store)`."""
    if value.node in above:  # `self.store = zarr.open(self.store)`
        return None
    for argument in [*value.node.args[:1], *(k.value for k in value.node.keywords if k.arg in ("store", "fileobj"))]:
        for inner in program.evaluator.values(argument, value.frame):
            found = handle_of(program, inner, above | {value.node})
            if found is not None:
                return replace(found, derived=True)
    return None


def by_use(code: WorkerCode, item: Item) -> Handle | None:
    """A handle that only its use tells: `np.load(path)` read by key is an archive, an image that is sought a file, a
    session with which main has asked something already a connection."""
    value = item.value
    if isinstance(value, Product) and value.name in apis.SESSIONS:
        return Handle(apis.HANDLES["socket.socket"], value, derived=False) if _is_used_in_main(code, item) else None
    if not isinstance(value, Product) or value.name not in ("numpy.load", "PIL.Image.open"):
        return None
    if is_over_memory(code.program.evaluator, value):
        return None
    reads = [node for _, node in code.reads(item.owner, item.attribute)]
    if value.name == "PIL.Image.open":
        sought = any(getattr(parent(node), "attr", "") == "seek" for node in reads)
        return Handle(apis.HANDLES["cv2.VideoCapture"], value, derived=False) if sought else None
    if any(map(archives.is_under_name, reads)) and archives.may_be_archive(code.program, item):
        return Handle(apis.HANDLES["zipfile.ZipFile"], value, derived=False)
    return None


def _is_used_in_main(code: WorkerCode, item: Item) -> bool:
    """Whether a client has sent a request by the time that the object which keeps it is made."""
    for scope in {*threads.made_by(code.program, item.owner), item.frame.scope}:
        frame = item.frame if item.frame.scope is scope else Frame(scope, item.frame.receiver)
        calls = [call.func for name in apis.REQUESTS for call in scope.calls_of(name)]
        asked = [code.program.evaluator.values(f.value, frame) for f in calls if isinstance(f, ast.Attribute)]
        if any(value.key == item.value.key for values in asked for value in values):
            return True
    return False


_METHODS = frozenset({"extractfile", "get", "read", "readline", "readlines", "recv", "seek", "execute"})
"""Methods that keep using their handle where one of them is kept, and not called: `self.read = archive.read`."""


def _keeps(program: Program, api: HandleApi, step: Derived, first: bool) -> bool:
    """Whether one step of getting something out of a handle gives what still uses it."""
    if step.via.endswith("()"):
        return step.via[1:-2] in api.derives or step.via == ".__enter__()"
    if step.via == "with":
        return _spans_workers(program, step)
    if step.via[1:] in _METHODS and not isinstance(parent(step.node), ast.Call):
        return True
    if step.via == "each":
        return isinstance(step.base, Derived) and step.base.via in (".values()", ".items()")
    if step.via == "[]" and api.item_derives:
        return step.index == 1 if _is_pair(step.base) else _is_key(program, step, first)
    if step.via == "[]":
        return bool(api.parts)
    return step.via.startswith(".") and (api.attribute_derives or step.via[1:] in api.parts)


def _is_pair(value: Value) -> bool:
    """Whether it is a key with its value: what a loop over `handle.items()` meets."""
    return isinstance(value, Derived) and value.via == "each" and getattr(value.base, "via", "") == ".items()"


def _spans_workers(program: Program, step: Derived) -> bool:
    """Whether a loader is gone through before the end of the `with` that opens a handle."""
    around: ast.AST | None = step.node
    while around is not None and not isinstance(around, ast.With):
        around = parent(around)
    if around is None:
        return False
    module = scope_of(around).module
    loaders = (loader for loader in program.facts.loaders if loader.module is module)
    turns = (one.node for loader in loaders for one in program.facts.iterations_of(loader))
    return any(scope_of(node) is scope_of(around) and _is_within(node, around) for node in turns)


def _is_within(node: ast.AST, around: ast.With) -> bool:
    at: ast.AST | None = node
    while at is not None and at is not around:
        at = parent(at)
    return at is around


def _is_key(program: Program, step: Derived, first: bool) -> bool:
    """Whether `handle[key]` picks an object by its name; `handle[:]` and `handle[i]` read data."""
    node = step.node
    if not isinstance(node, ast.Subscript):
        return False
    key = node.slice
    if isinstance(key, ast.Constant):
        return isinstance(key.value, str)
    if isinstance(key, (ast.Slice, ast.Tuple)):
        return False
    known = program.evaluator.values(key, step.frame)
    if any(isinstance(v, Number) or (isinstance(v, Const) and not isinstance(v.value, str)) for v in known):
        return False
    return first or any(isinstance(v, Const) for v in known) or isinstance(key, ast.JoinedStr)


def _api(program: Program, value: Product) -> HandleApi | None:
    api = apis.HANDLES.get(value.name) or apis.SAME_BY_ANY_NAME.get(value.name.rpartition(".")[2])
    if api is not None:
        return _for_arguments(program, api, value)
    if value.name in program.settings.handles:
        return HandleApi("a handle", "it belongs to the process that opened it")
    if value.name == "numpy.load" and _first_text(program, value).endswith(".npz"):
        return apis.HANDLES["zipfile.ZipFile"]
    return None


def _for_arguments(program: Program, api: HandleApi, value: Product) -> HandleApi | None:
    """What lies in memory is each process's own; LMDB without its lock file is clean under fork; some calls open only
    where an argument says so."""
    if value.name not in apis.HARMFUL_OVER_MEMORY and is_over_memory(program.evaluator, value):
        return None
    if value.name in apis.ONLY_WITH and not _is(program, value, apis.ONLY_WITH[value.name], True):
        return None
    if not value.name.startswith("lmdb."):
        return api
    return _mild_lmdb(api) if _is(program, value, "lock", False) else api


def _mild_lmdb(api: HandleApi) -> HandleApi:
    harm = (
        "it cannot be pickled (TypeError: cannot pickle 'Environment' object) under spawn and forkserver, the Linux "
        "default from Python 3.14"
    )
    return replace(api, mild=True, harm=harm)


def _is(program: Program, value: Product, name: str, wanted: bool) -> bool:
    for keyword in value.node.keywords:
        if keyword.arg == name:
            found = program.evaluator.values(keyword.value, value.frame)
            return all(isinstance(v, Const) and bool(v.value) is wanted for v in found)
    return False


def _first_text(program: Program, value: Product) -> str:
    """The end of the path that is opened, as far as it is visible."""
    if not value.node.args:
        return ""
    node = value.node.args[0]
    for part in reversed(list(ast.walk(node))):
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value.endswith(".npz"):
            return part.value
    found = program.evaluator.values(node, value.frame)
    return next((v.value for v in found if isinstance(v, Const) and isinstance(v.value, str)), "")


def opened_at(program: Program, node: ast.expr, frame: Frame) -> Handle | None:
    """The handle that an expression certainly or possibly is."""
    for value in program.evaluator.values(node, frame):
        found = handle_of(program, value)
        if found is not None:
            return found
    return None


def bound_once(program: Program, scope: Scope) -> Iterator[tuple[str, Handle]]:
    """The names of a module or class that are bound once to an open handle, with it."""
    for name, bindings in scope.index().bindings.items():
        binding = bindings[0]
        if len(bindings) > 1 or binding.kind != "assign" or not isinstance(binding.value, ast.Call):
            continue
        found = opened_at(program, binding.value, Frame(scope))
        if found is not None:
            yield name, found


def is_closed_at_once(call: ast.Call) -> bool:
    """Whether the function that opens a handle also closes it: `with open(...)`, or `f = open(...)` and `f.close()`."""
    around = parent(call)
    if isinstance(around, ast.withitem):
        return True
    if isinstance(around, ast.Call) and getattr(around.func, "id", getattr(around.func, "attr", "")) == "closing":
        return True
    if not isinstance(around, ast.Assign) or not isinstance(around.targets[0], ast.Name):
        return False
    closed = {getattr(close.func, "value", None) for close in scope_of(call).closes}
    return any(isinstance(node, ast.Name) and node.id == around.targets[0].id for node in closed)
