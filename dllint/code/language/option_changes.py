"""Options that the program itself replaces once they are parsed: `if args.workers < 0: args.workers = args.jobs`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language import conditions
from dllint.code.language.bindings import AttributeWrite
from dllint.code.language.conditions import is_main_test
from dllint.code.language.folding import verdict
from dllint.code.language.links import Block, block_of, parent, scope_of
from dllint.code.language.modules import Module
from dllint.code.language.scopes import Scope, dotted, last_name
from dllint.code.language.stored_by_text import stored_by_text
from dllint.code.language.values import Derived, Frame, Unknown, Value, Values, by_default, is_unknown, merge

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator

_WHOLE = ("body", "orelse", "finalbody")
_SHOWS = frozenset({"print", "pprint", "vars", "str", "repr", "info", "debug"})
"""What a namespace is given to without effect on what is built of it."""
_COPIES = frozenset({"copy", "deepcopy"})
_Change = tuple[AttributeWrite, Scope]


def is_changed(ev: Evaluator, module: Module, name: str) -> bool:
    """Whether the program itself gives an option of a module another value, in whatever module the namespace is handed
    to."""
    return next(_changes(ev, module, name), None) is not None


def after_changes(
    ev: Evaluator, namespace: Derived, name: str, default: Values, use: ast.AST, around: Frame | None = None
) -> Values:
    """What an option is at `use`, where nobody passes it: its default, or what the program puts in the place of that;
    also unknown where it is not sure what that is."""
    module = namespace.frame.scope.module
    if _may_be_stored_by_text(ev, namespace, name, use):
        return merge([default, (Unknown(name),)])
    used = _Use(namespace, name, use, around)
    changes = [each for each in _changes(ev, module, name, used) if not _is_later(each[0].node, each[1], use)]
    if not changes:
        return default
    left: list[Values] = []
    for value in by_default(default):
        replaced = _replaced(ev, used, value, changes)
        if replaced is None:
            return merge([default, (Unknown(name),)])
        left.append(by_default(replaced))
    if any(map(is_unknown, left)):
        return (Unknown(name),)
    if any(_is_set(ev, used, change) for change in changes):
        return merge(left)  # whatever the command says
    return merge([*left, (Unknown(name, overrides=True),)])


class _Use:
    """A place that asks for an option of a namespace."""

    def __init__(self, namespace: Derived, name: str, node: ast.AST, around: Frame | None) -> None:
        self.namespace = namespace
        self.name = name
        self.node = node
        self.scopes = {scope_of(node)}
        """The functions in which a constant certainly takes the place of the option before: where the options are
        parsed, that of the use, and those that call one of them, with the modules that they begin in."""
        for start in (namespace.frame, around):
            for frame in start.way() if start is not None else ():
                self.scopes |= {frame.scope} if frame.caller is not None else {frame.scope, frame.scope.module.scope}

    def is_of(self, write: AttributeWrite, scope: Scope) -> bool:
        """Whether it asks what something is stored on, by the same name in the same function."""
        holder = dotted(self.node.value) if isinstance(self.node, ast.Attribute) else ""
        return scope_of(self.node) is scope and holder == dotted(write.target.value)

    def is_behind(self, change: _Change) -> bool:
        """Whether it is only come to by way of an earlier change of the same function."""
        write, scope = change
        return scope_of(self.node) is scope and write.binding.block.holds(block_of(self.node))


def _changes(ev: Evaluator, module: Module, name: str, used: _Use | None = None) -> Iterator[_Change]:
    """What is stored under the name of an option: anything computed in its own module, replacements everywhere, and
    the constants that surely take its place before a use."""
    modules = dict.fromkeys([module, *ev.program.modules_with(f".{name} =")])
    for other in modules:
        for write, scope in other.writes_of(name):
            change = write, scope
            is_change = (other is module and _is_computed(write)) or _replaces(write)
            if is_change or (used is not None and _is_set(ev, used, change)):
                yield change


def _is_set(ev: Evaluator, used: _Use, change: _Change) -> bool:
    """Whether a constant takes the place of an option before a use: `args = parse(); args.workers = 4`.

    One that is written under a condition nobody knows (`if on_windows: args.workers = 0`) says nothing about the
    default, but where it is used under the same condition.
    """
    if change[1] not in used.scopes or not isinstance(change[0].binding.value, ast.Constant) or _replaces(change[0]):
        return False
    if _is_handed_on_before(change):
        return False
    return _is_made(ev, used, Unknown(used.name), change) is True


def _is_handed_on_before(change: _Change) -> bool:
    """Whether the function that makes a change has passed the namespace to anything before: `build(args)`."""
    write, scope = change
    holder = dotted(write.target.value)
    before = (call for call in scope.index().calls if call.lineno < getattr(write.node, "lineno", 0))
    given = ((call, each) for call in before for each in (*call.args, *(keyword.value for keyword in call.keywords)))
    return any(dotted(each) == holder and last_name(call.func) not in _SHOWS for call, each in given)


def _replaces(write: AttributeWrite) -> bool:
    """Whether an option is replaced on its namespace: `if opt.size == 0: opt.size = opt.batch_size`."""
    key, holder = dotted(write.target), dotted(write.target.value)
    if not key or holder == "self":
        return False
    tests = [test for test, _ in conditions.leading_to(write.node)]
    if any(conditions.mentions(test, key) for test in tests):
        return True
    value = write.binding.value
    return isinstance(value, ast.expr) and conditions.mentions(value, holder)


def _is_computed(write: AttributeWrite) -> bool:
    """Whether something other than a constant is written, and to something other than `self`."""
    return dotted(write.target.value) != "self" and not isinstance(write.binding.value, ast.Constant)


def _is_later(change: ast.AST, scope: Scope, use: ast.AST) -> bool:
    """Whether a use comes before a change in the same function, or is what the change itself asks and computes with."""
    at: ast.AST | None = use
    while at is not None and not isinstance(at, ast.stmt):
        at = parent(at)
    if at is None or scope_of(at) is not scope:
        return False
    return at is change or at.lineno < getattr(change, "lineno", 0)


def _may_be_stored_by_text(ev: Evaluator, namespace: Derived, name: str, use: ast.AST) -> bool:
    """Whether something is stored under the name of an option by a text, where nobody passes it: that may be any."""
    for found in stored_by_text(ev):
        if not found.may_store(name) or _is_later(found.node, found.scope, use):
            continue
        frame = Frame(found.scope)
        is_stored = any(holder.key == namespace.key for holder in ev.infer(found.holder, frame))
        if is_stored and not conditions.is_unreachable(ev, found.node, frame):
            return True
    return False


def _replaced(ev: Evaluator, used: _Use, value: Value, changes: list[_Change]) -> Values | None:
    """What a value of an option becomes, change by change; None where one may or may not happen."""
    now: Values = (value,)
    for change in changes:
        taken = [_is_made(ev, used, each, change) for each in now]
        if None in taken:
            return None
        write, scope = change
        kept = tuple(each for each, is_replaced in zip(now, taken, strict=True) if not is_replaced)
        now = merge([kept, ev.written(write, Frame(scope))]) if any(taken) else now
    return now


def _is_made(ev: Evaluator, used: _Use, value: Value, change: _Change) -> bool | None:
    """Whether a change happens to an option of this value; None where that is not known."""
    write, scope = change
    if _is_of_copy(write, scope) and not used.is_of(write, scope):
        return False if scope_of(used.node) is scope else None
    holders = ev.infer(write.target.value, Frame(scope))
    if len(holders) != 1 or holders[0].key != used.namespace.key:
        return None
    if used.is_behind(change):
        return True
    ev.assumed.append((dotted(write.target), value))
    try:
        tests = conditions.each_alone(conditions.leading_to(write.node))
        met = [_is_met(verdict(ev, test, Frame(scope)), wanted) for test, wanted in tests if not is_main_test(test)]
    finally:
        ev.assumed.pop()
    if False in met:
        return False
    return None if None in met or not all(map(_is_surely_entered, write.binding.block.chain())) else True


def _is_of_copy(write: AttributeWrite, scope: Scope) -> bool:
    """Whether something is stored on a copy of a namespace: `val = copy.deepcopy(args); val.workers = 0`."""
    holder = write.target.value
    bound = scope.index().bindings.get(holder.id, ()) if isinstance(holder, ast.Name) else ()
    made = [binding.value for binding in bound]
    return bool(made) and all(isinstance(each, ast.Call) and last_name(each.func) in _COPIES for each in made)


def _is_met(outcome: bool | None, wanted: bool) -> bool | None:
    return None if outcome is None else outcome is wanted


def _is_surely_entered(block: Block) -> bool:
    """Whether all that decides about a block is an `if`: not the body of a loop, what handles an error, or a `case`."""
    return isinstance(block.owner, (ast.If, ast.With, ast.Try, type(None))) and block.branch in _WHOLE
