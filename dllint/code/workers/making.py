"""The making of an object, step by step: which attribute writes still stand when it is handed to a loader."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language import classes, conditions, fields, settled
from dllint.code.language.bindings import AttributeWrite, Binding
from dllint.code.language.links import Block, block_of, parent, scope_of, set_parent
from dllint.code.language.reaching import first_alive, reaching
from dllint.code.language.scopes import ClassScope, FunctionScope, Scope, dotted, last_name
from dllint.code.language.values import Frame, Function, Instance
from dllint.records import dataclass, field

if TYPE_CHECKING:
    from dllint.code.program import Program


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
    for name in _hooks(program, value.cls):
        hook = classes.method(program.evaluator, value.cls, name)
        if hook is not None:
            _run(program, found, hook, Frame(hook, value), value, 0)
    _continue(program, found, value)
    return found.held


def _hooks(program: Program, cls: ClassScope) -> list[str]:
    """The methods that the `__init__` of a library's class calls."""
    return [name for base in classes.external_bases(program.evaluator, cls) for name in apis.INIT_HOOKS.get(base, ())]


def _continue(program: Program, found: _Init, value: Instance) -> None:
    """What the function that makes an object sets on it afterwards: `dataset = cls()`, `dataset.file = open(path)`."""
    statement = parent(value.node) if value.node is not None else None
    if value.frame is None or not isinstance(statement, ast.Assign):
        return
    names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
    scope = scope_of(statement).index()
    for write in scope.writes if names and scope is value.frame.scope else ():
        holder = write.target.value
        if isinstance(holder, ast.Name) and holder.id in names and _comes_from(scope, holder, statement):
            _set(program, found, write, value.frame, value, 0)
    for call in scope.closes if names else ():
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Attribute):
            closed = call.func.value
            if isinstance(closed.value, ast.Name) and closed.value.id in names:
                found.held.pop(closed.attr, None)


def _comes_from(scope: Scope, name: ast.Name, statement: ast.Assign) -> bool:
    """Whether a variable has what this statement assigned to it."""
    return any(binding.node is statement for binding in reaching(scope.bindings.get(name.id, []), name))


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
            _set(program, found, node, frame, value, depth)
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


def _set(program: Program, found: _Init, write: AttributeWrite, frame: Frame, value: Instance, depth: int) -> None:
    """`self.name = value`, which runs the setter of a property."""
    setter = classes.method(program.evaluator, value.cls, f"{write.name}.setter")
    stored = write.binding.value
    if setter is None or write.element or write.binding.kind != "assign" or not isinstance(stored, ast.expr):
        _write(found, write, frame)
        return
    call = ast.copy_location(ast.Call(func=write.target, args=[stored], keywords=[]), write.target)
    set_parent(call, write.node)
    _run(program, found, setter, Frame(setter, value, call, frame), value, depth + 1)


def _steps(
    program: Program, scope: FunctionScope, receiver: str | None, value: Instance
) -> list[tuple[str, ast.AST | AttributeWrite]]:
    """What a method does that may change the object, in the order of execution."""
    steps: list[tuple[tuple[int, int], str, ast.AST | AttributeWrite]] = [
        (end_of(write.node), "write", write)
        for write in scope.writes
        if _is_receiver(write.target.value, receiver) or names_class(program, write.target.value, value.cls)
    ]
    steps += [(end_of(call), "call", call) for call in scope.calls if _may_change(call.func, receiver)]
    steps += [(end_of(target), "delete", target) for target in scope.deletes]
    steps += [(end_of(node), "read", node) for node in scope.attributes if _is_property(program, node, receiver, value)]
    return [(kind, node) for _, kind, node in sorted(steps, key=lambda step: step[0])]


def _is_receiver(node: ast.AST, receiver: str | None) -> bool:
    return isinstance(node, ast.Name) and node.id == receiver


def names_class(program: Program, node: ast.AST, cls: ClassScope) -> bool:
    """Whether an expression in a method stands for the class: `type(self)`, `self.__class__`, its name."""
    if isinstance(node, ast.Call):
        return last_name(node) == "type" and len(node.args) == 1
    if isinstance(node, ast.Attribute):
        return node.attr == "__class__"
    if not isinstance(node, ast.Name) or node.id == "self":
        return False
    return any(base.name == node.id for base in classes.project_mro(program.evaluator, cls))


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
    """Whether no condition on the way to a node is known to come out otherwise: in this activation, or by all calls
    that the project has."""
    ev = program.evaluator
    return not settled.is_never_reached(ev, node, frame) and not conditions.is_unreachable(ev, node, frame)


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


def end_of(node: ast.AST) -> tuple[int, int]:
    """Where a node ends: its line and column."""
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
    own = [h for h in before if h.frame.scope is frame.scope and not h.write.element] + [entry]
    place = first_alive([h.write.binding.block for h in own], None) or 0
    gone = {id(h) for h in own[:place]}
    found.held[write.name] = [h for h in [*before, entry] if id(h) not in gone]


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
    for name, entries in list(found.held.items()):
        found.held[name] = [e for e in entries if not _is_entered(e, holder)]
    if isinstance(holder, ast.Attribute):
        found.held.pop(holder.attr, None)
    elif isinstance(holder, ast.Name):
        for name, entries in list(found.held.items()):
            found.held[name] = [e for e in entries if not _stores(e, holder.id, frame)]


def _is_entered(entry: Held, stack: ast.expr) -> bool:
    """Whether an attribute holds what this stack closes: `self.file = self.stack.enter_context(open(path))`."""
    stored = entry.write.binding.value
    function = stored.func if isinstance(stored, ast.Call) else None
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "enter_context"
        and (dotted(function.value) == dotted(stack))
    )


def _stores(entry: Held, name: str, frame: Frame) -> bool:
    stored = entry.write.binding.value
    return entry.frame.scope is frame.scope and isinstance(stored, ast.Name) and stored.id == name
