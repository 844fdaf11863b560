"""What an object carries into the workers: the attributes that stand when it is made, and what they hold."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code.language import classes, conditions, fields
from dllint.code.language.bindings import AttributeWrite, Binding
from dllint.code.language.links import Block, block_of, parent
from dllint.code.language.scopes import ClassScope, FunctionScope, last_name
from dllint.code.language.values import Frame, Function, Instance, Value
from dllint.code.workers import holding
from dllint.code.workers.reach import Step, WorkerCode
from dllint.records import dataclass, field

if TYPE_CHECKING:
    from dllint.code.program import Program

_MOST_ITEMS = 400
_DEEPEST = 5


@dataclass(frozen=True, slots=True)
class Item:
    """One value that an object carries, directly or within what it carries."""

    value: Value
    owner: ClassScope
    """The class of the object whose attribute holds it."""
    attribute: str
    write: AttributeWrite
    """The statement that stores it."""
    frame: Frame
    """The activation that this statement ran in."""
    path: str
    """`labels.videos[].backend`."""
    root: str
    """The attribute of the outermost object that leads to it."""
    certain: bool = True
    """Whether nothing else can stand in its place."""
    within: Item | None = None
    """The item whose object holds this one."""


@dataclass(slots=True)
class Held:
    """An attribute write that still stands, with the frame to read it in."""

    write: AttributeWrite
    frame: Frame


_CLOSING = frozenset({"close", "shutdown", "release", "terminate"})


@dataclass(slots=True)
class _Init:
    """The run of an `__init__`, method calls on the object included, in the order of execution."""

    held: dict[str, list[Held]] = field(default_factory=dict)
    passed: set[int] = field(default_factory=set)


def kept(program: Program, value: Instance) -> dict[str, list[Held]]:
    """The attribute writes of an object's making that still stand when it is made."""
    memo, key = program.facts.kept_memo, (value.key, id(value.frame))
    if key not in memo:
        memo[key] = _made(program, value)
    return memo[key]


def _made(program: Program, value: Instance) -> dict[str, list[Held]]:
    found = _Init()
    first = classes.method(program.evaluator, value.cls, "__init__")
    if first is not None:
        _run(program, found, first, classes.method_frame(program.evaluator, value, first), value, 0)
    else:
        for write, frame in fields.stored(value, classes.project_mro(program.evaluator, value.cls)):
            _write(found, write, frame)
    for base in classes.project_mro(program.evaluator, value.cls):
        for name in ("__post_init__", "setup", "__attrs_post_init__"):
            method = base.methods.get(name)
            if method is not None and name != "setup" and first is None:
                _run(program, found, method, Frame(method, value), value, 0)
    return found.held


def _run(program: Program, found: _Init, scope: FunctionScope, frame: Frame, value: Instance, depth: int) -> None:
    if id(scope) in found.passed or depth > 8:
        return
    found.passed.add(id(scope))
    scope.index()
    receiver = scope.receiver_name
    for kind, node in _steps(program, scope, receiver, value):
        if not _is_passed(program, node.node if isinstance(node, AttributeWrite) else node, frame):
            continue
        if isinstance(node, AttributeWrite):
            _write(found, node, frame)
        elif kind == "delete":
            if isinstance(node, ast.Attribute):
                found.held.pop(node.attr, None)
        elif kind == "read" and isinstance(node, ast.Attribute):
            getter = classes.method(program.evaluator, value.cls, node.attr)
            if getter is not None:
                _run(program, found, getter, Frame(getter, value), value, depth + 1)
                _cache(found, getter, node, Frame(getter, value))
        elif isinstance(node, ast.Call):
            _call(program, found, node, frame, value, depth)
    found.passed.discard(id(scope))


def _steps(
    program: Program, scope: FunctionScope, receiver: str | None, value: Instance
) -> list[tuple[str, ast.AST | AttributeWrite]]:
    """What a method does that may change the object, in the order of execution."""
    steps: list[tuple[tuple[int, int], str, ast.AST | AttributeWrite]] = [
        (_end(write.node), "write", write)
        for write in scope.writes
        if isinstance(write.target.value, ast.Name) and write.target.value.id == receiver
    ]
    steps += [(_end(call), "call", call) for call in scope.calls if _may_change(call.func, receiver)]
    steps += [(_end(target), "delete", target) for target in scope.deletes]
    steps += [(_end(node), "read", node) for node in scope.attributes if _is_property(program, node, receiver, value)]
    return [(kind, node) for _, kind, node in sorted(steps, key=lambda step: step[0])]


def _may_change(function: ast.expr, receiver: str | None) -> bool:
    """Whether a call may change the object: by one of its methods, as the next class has them or not, or by closing
    what it holds."""
    if not isinstance(function, ast.Attribute):
        return False
    holder = function.value
    if function.attr in _CLOSING or (isinstance(holder, ast.Name) and holder.id == receiver):
        return True
    if function.attr == "__init__":
        return isinstance(holder, (ast.Call, ast.Name))
    return isinstance(holder, ast.Call) and last_name(holder) == "super"


def _is_passed(program: Program, node: ast.AST, frame: Frame) -> bool:
    """Whether no condition around a node is known to come out otherwise in this activation."""
    if frame.call is None:
        return True
    blocks = [block for block in block_of(node).chain() if isinstance(block.owner, ast.If)]
    return not any(conditions.is_ruled_out(program.evaluator, block, frame) for block in blocks)


def _cache(found: _Init, getter: FunctionScope, node: ast.Attribute, frame: Frame) -> None:
    """What a `cached_property` returns is kept from the first read on."""
    if "cached_property" not in getter.decorators:
        return
    for returned in getter.index().returns:
        binding = Binding(node.attr, "assign", returned, block_of(returned), returned.value)
        found.held.setdefault(node.attr, []).append(Held(AttributeWrite(node.attr, node, binding, False), frame))


def _is_property(program: Program, node: ast.Attribute, receiver: str | None, value: Instance) -> bool:
    if not isinstance(node.value, ast.Name) or node.value.id != receiver or not isinstance(node.ctx, ast.Load):
        return False
    method = classes.method(program.evaluator, value.cls, node.attr)
    return method is not None and method.is_property


def _end(node: ast.AST) -> tuple[int, int]:
    return (getattr(node, "end_lineno", 0) or 0, getattr(node, "end_col_offset", 0) or 0)


def _write(found: _Init, write: AttributeWrite, frame: Frame) -> None:
    entry = Held(write, frame)
    block: Block = write.binding.block
    if write.element:
        found.held.setdefault(write.name, []).append(entry)
        return
    stored = write.binding.value
    if isinstance(stored, ast.Constant) and stored.value is None:
        others = [h for h in found.held.get(write.name, ()) if block.excludes(h.write.binding.block)]
        found.held[write.name] = others
        return
    if block.parent is None:
        found.held[write.name] = [entry]
        return
    # A later write in the same branch, or in one around it, replaces the earlier one.
    before = [
        h
        for h in found.held.get(write.name, ())
        if h.frame.scope is not frame.scope or not block.holds(h.write.binding.block)
    ]
    found.held[write.name] = [*before, entry]


def _call(program: Program, found: _Init, call: ast.Call, frame: Frame, value: Instance, depth: int) -> None:
    function = call.func
    assert isinstance(function, ast.Attribute)
    if function.attr in _CLOSING:
        _closed(found, function.value, frame)
        return
    for target in program.evaluator.values(function, frame):
        if isinstance(target, Function) and (target.receiver is not None or function.attr == "__init__"):
            if target.receiver is not None and target.receiver.cls is not value.cls:
                continue
            inner = Frame(target.scope, value, call, frame)
            _run(program, found, target.scope, inner, value, depth + 1)


def _closed(found: _Init, holder: ast.expr, frame: Frame) -> None:
    """`self.f.close()` ends what the attribute holds; so does closing the variable that it was stored from."""
    if isinstance(holder, ast.Attribute):
        found.held.pop(holder.attr, None)
    elif isinstance(holder, ast.Name):
        for name, entries in list(found.held.items()):
            found.held[name] = [e for e in entries if not _stores(e, holder.id, frame)]


def _stores(entry: Held, name: str, frame: Frame) -> bool:
    stored = entry.write.binding.value
    return entry.frame.scope is frame.scope and isinstance(stored, ast.Name) and stored.id == name


def items(program: Program, value: Instance) -> tuple[Item, ...]:
    """All that an object carries, down to a bounded depth."""
    memo, key = program.facts.items_memo, (value.key, id(value.frame))
    if key not in memo:
        found: list[Item] = []
        seen: set[tuple[object, ...]] = set()
        _collect(program, value, None, found, seen, 0)
        memo[key] = tuple(found)
    return memo[key]


def _collect(
    program: Program,
    value: Instance,
    within: Item | None,
    found: list[Item],
    seen: set[tuple[object, ...]],
    depth: int,
) -> None:
    if value.key in seen or depth > _DEEPEST:
        return
    seen.add(value.key)
    ev = program.evaluator
    for name, entries in kept(program, value).items():
        for entry in entries:
            values = ev.written(entry.write, entry.frame)
            for inner in values:
                path = f"{name}[]" if entry.write.element else name
                root = name
                if within is not None:
                    path, root = f"{within.path}.{path}", within.root
                certain = len(values) == 1
                where = Item(inner, value.cls, name, entry.write, entry.frame, path, root, certain, within)
                _expand(program, where, found, seen, depth)


def _expand(program: Program, item: Item, found: list[Item], seen: set[tuple[object, ...]], depth: int) -> None:
    """Take in an item and what it holds."""
    if len(found) > _MOST_ITEMS or depth > _DEEPEST:
        return
    value = item.value
    key = (item.owner, item.attribute, value.key, id(item.write))
    if key in seen:
        return
    seen.add(key)
    found.append(item)
    if isinstance(value, Instance):
        _collect(program, value, item, found, seen, depth + 1)
        return
    for inner, certain in holding.held_by(program, value):
        path = f"{item.path}[]"
        surely = item.certain and certain
        part = Item(inner, item.owner, item.attribute, item.write, item.frame, path, item.root, surely, item.within)
        _expand(program, part, found, seen, depth + 1)


_WHOLE_STATE = frozenset({"__dict__", "vars", "__getstate__"})


def is_dropped(program: Program, item: Item) -> bool:
    """Whether an item is kept out of what is pickled, by the object that holds it or by one around that."""
    at: Item | None = item
    while at is not None:
        if drops(program, at.owner, at.attribute):
            return True
        at = at.within
    return False


def drops(program: Program, cls: ClassScope, attribute: str) -> bool:
    """Whether `__getstate__` or `__reduce__` keeps an attribute out of what is pickled, as far as its text tells."""
    ev = program.evaluator
    method = classes.method(ev, cls, "__getstate__") or classes.method(ev, cls, "__reduce__")
    if method is None:
        return False
    memo = program.facts.drops_memo
    if method not in memo:
        memo[method] = _state_words(method)
    copies, words, texts = memo[method]
    # A copy of the whole state names what it drops; a state that is spelled out names what it keeps.
    return (attribute in words or not texts) if copies else attribute not in words


def _state_words(method: FunctionScope) -> tuple[bool, set[str], set[str]]:
    """Whether a `__getstate__` starts from the whole state; all names and texts in it; its texts alone."""
    copies = any(getattr(node, "attr", getattr(node, "id", "")) in _WHOLE_STATE for node in ast.walk(method.node))
    texts = {
        node.value for node in ast.walk(method.node) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    names = {node.attr for node in ast.walk(method.node) if isinstance(node, ast.Attribute)}
    names |= {node.arg for node in ast.walk(method.node) if isinstance(node, ast.keyword) and node.arg}
    return copies, texts | names, texts


def is_conditional_on_process(node: ast.AST) -> bool:
    """Whether a statement stands under a test of the process or worker that runs it."""
    at = parent(node)
    while at is not None and not isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
        if isinstance(at, ast.If):
            names = {getattr(n, "attr", getattr(n, "id", "")) for n in ast.walk(at.test)}
            if any(isinstance(n, str) and ("pid" in n.lower() or "worker" in n.lower()) for n in names):
                return True
        at = parent(at)
    return False


def read_in_worker(code: WorkerCode, item: Item) -> tuple[Step, ast.Attribute] | None:
    """Where worker code reads what `__init__` left in an attribute: not where it has just replaced it."""
    for step, node in code.reads(item.owner, item.attribute):
        if not _replaced_before(code, item, step, node):
            return step, node
    return None


def _replaced_before(code: WorkerCode, item: Item, step: Step, node: ast.Attribute) -> bool:
    """Whether worker code stores the attribute anew before this read: on every way, or once in each process."""
    for other in code.steps:
        receiver = other.scope.receiver_name
        started = other.root.label == "worker_init_fn"
        if started and _reopens(code, item, other):
            return True
        for write in other.scope.index().writes:
            own = isinstance(write.target.value, ast.Name) and write.target.value.id == receiver
            if write.name != item.attribute or write.element or not (own or started):
                continue
            if started or is_conditional_on_process(write.node):
                return True
            if (
                other.scope is step.scope
                and _end(write.node) < _end(node)
                and write.binding.block.holds(block_of(node))
            ):
                return True
    return False


def _reopens(code: WorkerCode, item: Item, step: Step) -> bool:
    """Whether a worker_init_fn calls a method of the object that stores the attribute: `info.dataset.open()`."""
    for call in step.scope.index().calls:
        if not isinstance(call.func, ast.Attribute):
            continue
        method = classes.method(code.program.evaluator, item.owner, call.func.attr)
        if method is not None and any(write.name == item.attribute for write in method.index().writes):
            return True
    return False
