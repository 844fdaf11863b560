"""Handles that worker code opens for a sample and that outlive it: kept in a container, or freed by nobody."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.handles import opened as handles
from dllint.code.language import conditions, loops
from dllint.code.language.links import parent
from dllint.code.language.parameters import passed
from dllint.code.language.scopes import FunctionScope, Scope, dotted, last_name
from dllint.code.language.stores import Store, holder, is_emptied, stores
from dllint.code.language.values import Collection, Derived, External, Frame, Instance, Product, Value
from dllint.code.workers import state
from dllint.code.workers.reach import Step, WorkerCode
from dllint.code.workers.variation import Variation
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

_OPENING = frozenset(name.rpartition(".")[2] for name in (*apis.HANDLES, *apis.ALSO_DESCRIPTORS, *apis.RAW_DESCRIPTORS))
_ONCE = frozenset({"worker_init_fn"})
"""Labels of entries that run once in each worker."""
_DEEPEST = 4


@dataclass(frozen=True, slots=True)
class Leak:
    """A handle that stays open: the call that opens it, and what keeps it."""

    opened: ast.Call
    frame: Frame
    step: Step
    name: str
    """The call as a reader knows it: `open`."""
    why: str
    kept: ast.AST | None = None
    """The statement that keeps it, which stands in the function of `step`."""


def find(program: Program, code: WorkerCode) -> Iterator[Leak]:
    """The handles that stay open after the worker code which opened them."""
    if not any(_may_open(step.scope) for step in code.steps):
        return
    variation = Variation(program, code)
    for step in code.steps:
        if step.root.label not in _ONCE:
            yield from _kept(program, code, step, variation)
            yield from _freed_by_nobody(program, step)


def _may_open(scope: FunctionScope) -> bool:
    return any(last_name(call.func) in _OPENING for call in scope.index().calls)


# Kept in containers


def _kept(program: Program, code: WorkerCode, step: Step, variation: Variation) -> Iterator[Leak]:
    in_workers = {id(other.scope) for other in code.steps}
    for store in stores(step.scope):
        if not _outlives(store, step) or is_emptied(store, step.frame) or _is_done_once(store, step):
            continue
        for value in program.evaluator.values(store.value, step.frame):
            opened = next((o for o in _opened(program, value) if id(o.frame.scope) in in_workers), None)
            if opened is None or _is_read_whole(opened) or not _is_for_each_sample(program, store, step, variation):
                continue
            name = opened.name.removeprefix("builtins.")
            yield Leak(opened.node, opened.frame, step, name, "is kept open for every sample", store.node)
            break


def _outlives(store: Store, step: Step) -> bool:
    """Whether a container is one of an object's, or of the module's: not a local one, which ends with the call."""
    held_by = holder(store.container)
    if isinstance(held_by, ast.Attribute):
        return True
    if not isinstance(held_by, ast.Name):
        return False
    bindings = step.scope.index().bindings.get(held_by.id)
    return bindings is None or bindings[0].kind == "global"


def _opened(program: Program, value: Value, depth: int = 0) -> Iterator[Product]:
    """The opening calls whose handles a value is, or holds."""
    if depth > _DEEPEST:
        return
    handle = handles.handle_of(program, value)
    if handle is not None:
        yield handle.opened
    elif isinstance(value, Product) and value.name in apis.ALSO_DESCRIPTORS:
        yield value
    elif isinstance(value, Collection):
        groups = [value.each] if value.each is not None else []
        groups += [program.evaluator.values(part, value.frame) for part in value.items[:12]]
        yield from (found for group in groups for inner in group for found in _opened(program, inner, depth + 1))
    elif isinstance(value, Instance) and value.node is not None:
        for item in state.items(program, value):
            if not isinstance(item.value, (Instance, Collection)):
                yield from _opened(program, item.value, depth + 1)


def _is_done_once(store: Store, step: Step) -> bool:
    """Whether a test of the object decides, as when all files are opened on first use: `if not self.files:`."""
    at: Step | None = step
    node: ast.AST | None = store.node
    while at is not None and node is not None:
        receiver = at.scope.receiver_name
        for test, _ in conditions.leading_to(node):
            words = {dotted(part).partition(".")[0] for part in ast.walk(test) if isinstance(part, ast.Attribute)}
            if receiver in words or dotted(holder(store.container)) in {dotted(part) for part in ast.walk(test)}:
                return not isinstance(store.node, ast.Assign)
        node, at = at.call, at.parent
    return False


def _is_for_each_sample(program: Program, store: Store, step: Step, variation: Variation) -> bool:
    """Whether each sample adds a handle: a list always grows, a dict by what is the index or is made of it."""
    if step.root.scope.name == "__iter__" and step.parent is None:
        return next(iter(loops.around(store.node)), None) is not None
    key = _key(store)
    if key is None:
        return True
    picks = any(isinstance(part, ast.Subscript) for part in ast.walk(_spelled(key, step)))
    return variation.of(key, step) is True and not picks


def _key(store: Store) -> ast.expr | None:
    """What a dict is given the value under: `files[key] = f`, `files.setdefault(key, f)`, `files.update({key: f})`."""
    target = store.node.targets[0] if isinstance(store.node, ast.Assign) else None
    if isinstance(target, ast.Subscript):
        return target.slice
    if isinstance(store.node, ast.Call) and last_name(store.node) == "setdefault":
        return store.node.args[0]
    return store.value.keys[0] if isinstance(store.value, ast.Dict) else None


def _spelled(node: ast.AST, step: Step, depth: int = 0) -> ast.AST:
    """What a name was assigned or given, as far as that is seen; any other expression as it is."""
    bindings = step.scope.index().bindings.get(node.id, []) if isinstance(node, ast.Name) else []
    if len(bindings) != 1 or depth > _DEEPEST:
        return node
    binding = bindings[0]
    if binding.kind in ("assign", "item") and binding.value is not None:
        return _spelled(binding.value, step, depth + 1)
    if binding.kind == "parameter" and step.parent is not None and isinstance(step.call, ast.Call):
        given, _ = passed(binding.name, step.scope, step.call)
        return node if given is None else _spelled(given, step.parent, depth + 1)
    return node


def _is_read_whole(opened: Product) -> bool:
    """Whether an image is read at once, which closes its file."""
    if opened.name != "PIL.Image.open":
        return False
    name = _bound_name(opened.node)
    if not name:
        return False
    uses = [part for part in ast.walk(opened.frame.scope.node) if isinstance(part, ast.Name) and part.id == name]
    reads = [parent(use) for use in uses if isinstance(use.ctx, ast.Load)]
    return any(
        (isinstance(read, ast.Attribute) and read.attr in apis.FORCES_CONTENTS)
        or (isinstance(read, ast.Call) and last_name(read.func) not in ("append", "extend", "add", "insert"))
        for read in reads
    )


def _bound_name(call: ast.AST) -> str:
    """The name that a call's result is first given; of a pair of descriptor and path, that of the descriptor."""
    statement = parent(call)
    if isinstance(statement, ast.NamedExpr):
        return dotted(statement.target)
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return ""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
    if isinstance(target, (ast.Tuple, ast.List)) and target.elts:
        target = target.elts[0]
    return dotted(target)


# Freed by nobody


def _freed_by_nobody(program: Program, step: Step) -> Iterator[Leak]:
    for call in step.scope.index().calls:
        if last_name(call.func) not in _OPENING:
            continue
        for function in program.evaluator.values(call.func, step.frame):
            if not isinstance(function, External):
                continue
            why = _why_it_stays(program, function.name, call, step.frame)
            if why and not _is_let_go(call, step, function.name):
                yield Leak(call, step.frame, step, function.name, why)


def _why_it_stays(program: Program, name: str, call: ast.Call, frame: Frame) -> str:
    """Why the end of a function does not close what it opened; an empty text if it does."""
    if name in apis.RAW_DESCRIPTORS:
        return "gives a bare descriptor that nothing closes"
    late = name in apis.COLLECTED_LATE and _opens_path(program, call, frame)
    return "stays open until the garbage collector comes" if late else ""


def _opens_path(program: Program, call: ast.Call, frame: Frame) -> bool:
    """Whether a path is opened, and not a file object or a buffer, which has its own owner."""
    node = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "file"), None)
    if isinstance(node, ast.Name) and any(b.kind == "with" for b in frame.scope.bindings.get(node.id, ())):
        return False
    if node is None or any(word in ast.unparse(node).lower() for word in ("buf", "bytes", "stream", "fobj", "fileobj")):
        return False
    for value in program.evaluator.values(node, frame):
        origin = value.origin if isinstance(value, Derived) else value
        if isinstance(origin, Product) and (origin.name.startswith("io.") or handles.handle_of(program, origin)):
            return False
    return True


def _is_let_go(call: ast.Call, step: Step, name: str) -> bool:
    """Whether the function closes what it opened, or hands it to somebody who may."""
    around = parent(call)
    if name == "tempfile.mkstemp" and isinstance(around, ast.Subscript):
        return False  # only the path is taken
    if isinstance(around, (ast.withitem, ast.Return, ast.Call, ast.keyword, ast.Yield, ast.Starred)):
        return True
    if isinstance(around, ast.Attribute):
        return around.attr == "close" or name not in apis.COLLECTED_LATE
    held_by = _bound_name(call)
    if not held_by:
        return True
    is_attribute = "." in held_by
    if is_attribute and (conditions.leading_to(call) or _is_closed_elsewhere(held_by, step)):
        return True
    return any(_lets_go(use, is_attribute) for use in _uses(held_by, step.scope) if use is not around)


def _uses(name: str, scope: Scope) -> Iterator[ast.AST]:
    for part in ast.walk(scope.node):
        if isinstance(part, (ast.Name, ast.Attribute)) and isinstance(part.ctx, ast.Load) and dotted(part) == name:
            yield part


def _lets_go(use: ast.AST, is_attribute: bool) -> bool:
    """Whether a use closes a handle, or hands it on: to a function, to whoever called, into a container."""
    around = parent(use)
    if isinstance(around, ast.Attribute):
        return around.attr in ("close", "detach")
    if isinstance(around, ast.Call) and use in around.args:
        return last_name(around.func) in apis.TAKES_DESCRIPTOR or not _only_uses(around)
    if isinstance(around, ast.Assign):
        return not is_attribute
    return isinstance(around, (ast.withitem, ast.Return, ast.Yield, ast.Tuple, ast.List, ast.Dict, ast.keyword))


def _only_uses(call: ast.Call) -> bool:
    """Whether a call reads or writes by a descriptor, and leaves it open: `os.read(fd, 10)`."""
    known = ("os.", "mmap.", "fcntl.")
    return dotted(call.func).startswith(known) or last_name(call.func) in ("next", "iter", "len", "enumerate", "print")


def _is_closed_elsewhere(name: str, step: Step) -> bool:
    owner = step.scope.owner
    methods = owner.methods.values() if owner is not None else ()
    return any(_lets_go(use, True) for scope in methods for use in _uses(name, scope.index()))
