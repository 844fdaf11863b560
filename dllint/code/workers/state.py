"""What an object carries into the workers: the attributes that stand when it is made, and what they hold."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code.language import classes
from dllint.code.language.bindings import AttributeWrite
from dllint.code.language.links import block_of, parent
from dllint.code.language.scopes import ClassScope, FunctionScope
from dllint.code.language.values import Frame, Instance, Value
from dllint.code.workers import holding, making
from dllint.code.workers.making import end_of, kept
from dllint.code.workers.reach import Step, WorkerCode
from dllint.records import dataclass

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
    """Whether an item is kept out of what is pickled: by the object that holds it or one around that, or on a class."""
    at: Item | None = item
    while at is not None:
        if making.names_class(program, at.write.target.value, at.owner) or drops(program, at.owner, at.attribute):
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
                and end_of(write.node) < end_of(node)
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
