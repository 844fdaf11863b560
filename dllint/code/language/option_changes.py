"""Options that the program itself replaces once they are parsed: `if args.workers < 0: args.workers = args.jobs`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.code.language import conditions
from dllint.code.language.bindings import AttributeWrite
from dllint.code.language.conditions import is_main_test
from dllint.code.language.folding import verdict
from dllint.code.language.links import Block, block_of, parent, scope_of
from dllint.code.language.modules import Module
from dllint.code.language.option_holders import COPIES, Holder, holders_on_the_way, is_another, is_where_made
from dllint.code.language.run_before import Way, happens
from dllint.code.language.scopes import ModuleScope, Scope, dotted, last_name
from dllint.code.language.stored_by_text import ByText, stored_by_text
from dllint.code.language.values import (
    ClassRef,
    Derived,
    Frame,
    Instance,
    Product,
    Unknown,
    Value,
    Values,
    by_default,
    is_unknown,
    merge,
)

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator

_WHOLE = ("body", "orelse", "finalbody")
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_MOST_WRITES = 100
"""Writes of one option. More were written by a program."""
_STORING = (" =", " +=", " -=", " *=", " /=", " //=", " in")
"""What stands behind the name of an option that something is stored under."""
_SHOWS = frozenset({"print", "pprint", "vars", "str", "repr", "info", "debug"})
"""What a namespace is given to without effect on what is built of it."""
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
    used = _Use(ev, namespace, name, use, around)
    by_text = _stored_by_text(ev, namespace, name, use)
    if by_text:
        is_sure = any(_names_option(ev, used, found) for found in by_text)
        return (Unknown(name),) if is_sure else merge([default, (Unknown(name),)])
    if len(used.writes) > _MOST_WRITES:
        return (Unknown(name),)
    changes = [each for each in _changes(ev, module, name, used) if not _is_later(each[0].node, each[1], use)]
    set_before = [change for change in changes if _is_set(ev, used, change)]
    if not all(_is_sure(ev, used, change) for change in set_before):
        return (Unknown(name),)
    if not set_before and any(_is_set_by_function(ev, used, change) for change in used.writes):
        return (Unknown(name),)
    if not changes:
        return default
    left: list[Values] = []
    for value in by_default(default):
        replaced = _replaced(ev, used, value, changes)
        if replaced is None:
            is_repeated = any(_is_in_loop(write) for write, _ in changes)
            return (Unknown(name),) if is_repeated else merge([default, (Unknown(name),)])
        left.append(by_default(replaced))
    if any(map(is_unknown, left)):
        return (Unknown(name),)
    if set_before:
        return merge(left)  # whatever the command says
    return merge([*left, (Unknown(name, overrides=True),)])


class _Use:
    """A place that asks for an option of a namespace."""

    def __init__(self, ev: Evaluator, namespace: Derived, name: str, node: ast.AST, around: Frame | None) -> None:
        self._ev = ev
        self.namespace = namespace
        self.name = name
        self.node = node
        self.scope = scope_of(node)
        self._frame = Frame(self.scope) if around is None else around

    @cached_property
    def scopes(self) -> dict[Scope, None]:
        """The functions in which a constant certainly takes the place of the option before: where the options are
        parsed, that of the use, those that call one of them, with the modules that they begin in, and those that hand
        the options to an object that is asked for them."""
        found = [self.scope]
        for frame in (*self.namespace.frame.way(), *self._frame.way()):
            found += [frame.scope] if frame.caller is not None else [frame.scope, frame.scope.module.scope]
        return dict.fromkeys([*found, *(holder.scope for holder in self._holders)])

    @cached_property
    def writes(self) -> list[_Change]:
        """What may be stored under the name of the option by the time that it is asked."""
        return list(_writes(self._ev, self.namespace.frame.scope.module, self.name, self.scopes))

    @cached_property
    def way(self) -> Way:
        """The calls that lead to the use."""
        return Way(self._ev, self.node, self._frame)

    @cached_property
    def _holders(self) -> list[Holder]:
        asked = _asked(self.node, self.name)
        return [] if asked is None else list(holders_on_the_way(self._ev, asked, self.node, self._frame))

    def holders_of(self, change: _Change) -> list[Holder]:
        """The names of its namespace that something is stored on."""
        write, scope = change
        name = dotted(write.target.value)
        found = [each for each in self._holders if each.scope is scope and each.name == name]
        is_made_here = not found and is_where_made(self.namespace, write, scope)
        return [Holder(scope, name, None)] if is_made_here else found

    def is_behind(self, change: _Change) -> bool:
        """Whether it is only come to by way of an earlier change of the same function, or what hands it on is."""
        write, scope = change
        if self.scope is scope and write.binding.block.holds(block_of(self.node)):
            return True
        given = (holder.left for holder in self.holders_of(change))
        return any(left is not None and write.binding.block.holds(block_of(left)) for left in given)


def _asked(use: ast.AST, name: str) -> ast.expr | None:
    """The expression that gives the namespace to a use: `opt` of `opt.workers`, of `getattr(opt, "workers")`."""
    if isinstance(use, ast.Attribute) and use.attr == name:
        return use.value
    if isinstance(use, ast.Call):
        return use.args[0] if use.args else None
    return use if isinstance(use, ast.expr) else None


def _changes(ev: Evaluator, module: Module, name: str, used: _Use | None = None) -> Iterator[_Change]:
    """What is stored under the name of an option: anything computed in its own module, replacements everywhere, and
    the constants that take its place before a use."""
    for write, scope in _writes(ev, module, name, ()) if used is None else used.writes:
        is_change = (scope.module is module and _is_computed(write)) or _replaces(write)
        if is_change or (used is not None and _is_set(ev, used, (write, scope))):
            yield write, scope


def _writes(ev: Evaluator, module: Module, name: str, scopes: Iterable[Scope]) -> Iterator[_Change]:
    """What may be stored under the name of an option of a module, wherever its namespace can get to: in the modules of
    some scopes that it comes through, and in those that may run with them."""
    own = dict.fromkeys([module, *(scope.module for scope in scopes)])
    found = (other for stores in _STORING for other in ev.program.modules_with(f".{name}{stores}"))
    others = [other for other in dict.fromkeys(found) if other not in own]
    for other in [*own, *ev.program.running_with(own, others)]:
        yield from (change for change in other.writes_of(name) if dotted(change[0].target.value) != "self")


def _is_set(ev: Evaluator, used: _Use, change: _Change) -> bool:
    """Whether a constant takes the place of an option before a use: `args = parse(); args.workers = 4`.

    One that is written under a condition nobody knows (`if on_windows: args.workers = 0`) says nothing about the
    default, but where it is used under the same condition.
    """
    write, scope = change
    if scope not in used.scopes or not isinstance(write.binding.value, ast.Constant) or _replaces(write):
        return False
    holders = used.holders_of(change)
    if holders and all(holder.is_given_before(write) for holder in holders):
        return False
    return _is_made(ev, used, Unknown(used.name), change) is True


def _is_set_by_function(ev: Evaluator, used: _Use, change: _Change) -> bool:
    """Whether another function that gets the namespace may have stored something under the name before: `adjust(args)`
    with `def adjust(given): given.workers = 4`. Replacements are taken into account wherever they stand."""
    write, scope = change
    if scope in used.scopes or isinstance(scope, ModuleScope) or _replaces(write) or _is_local(write, scope):
        return False
    frame = Frame(scope)
    if all(value.key != used.namespace.key for value in ev.infer(write.target.value, frame)):
        return False
    return happens(ev, write.node, frame) and used.way.has_passed(scope)


def _is_sure(ev: Evaluator, used: _Use, change: _Change) -> bool:
    """Whether a constant that is stored on a namespace is what a use finds there: on the one that is handed on to it,
    and nothing else may have been stored since."""
    holders = [holder for holder in used.holders_of(change) if not holder.is_bound_again(change[0])]
    if not holders or (holders[0].left is None and _is_handed_on_before(change)):
        return False
    others = (each for each in used.writes if each[0] is not change[0])
    return not any(_may_undo(ev, used, change, other) for other in others)


def _may_undo(ev: Evaluator, used: _Use, change: _Change, other: _Change) -> bool:
    """Whether something else may be stored after a change, nobody knows when: in another function that is handed the
    namespace, or under a condition."""
    write, scope = other
    if scope is change[1] and (scope is used.scope or _replaces(write) or _is_set(ev, used, other)):
        return False  # taken into account in the order of the lines
    if scope not in used.scopes and _is_local(write, scope):
        return False
    held = ev.infer(write.target.value, Frame(scope))
    if all(value.key != used.namespace.key for value in held):
        return False
    return any(_is_made(ev, used, value, other) is not False for value in ev.written(change[0], Frame(change[1])))


def _is_local(write: AttributeWrite, scope: Scope) -> bool:
    """Whether something is stored on what a function makes itself, and not on what comes from around it."""
    holder = write.target.value
    bound = scope.index().bindings.get(holder.id, ()) if isinstance(holder, ast.Name) else ()
    return bool(bound) and all(one.kind not in ("parameter", "global") for one in bound)


def _is_handed_on_before(change: _Change) -> bool:
    """Whether the function that makes a change has passed the namespace to anything before: `build(args)`."""
    write, scope = change
    holder = dotted(write.target.value)
    before = (call for call in scope.index().calls if call.lineno < getattr(write.node, "lineno", 0))
    given = ((call, each) for call in before for each in (*call.args, *(keyword.value for keyword in call.keywords)))
    return any(dotted(each) == holder and last_name(call.func) not in _SHOWS for call, each in given)


def _replaces(write: AttributeWrite) -> bool:
    """Whether an option is replaced on its namespace: `if opt.size == 0: opt.size = opt.batch_size`, `for opt.size in
    sizes: ...`."""
    if write.binding.kind == "each":
        return True
    key, holder = dotted(write.target), dotted(write.target.value)
    if not key:
        return False
    tests = [test for test, _ in conditions.leading_to(write.node)]
    if any(conditions.mentions(test, key) for test in tests):
        return True
    value = write.binding.value
    if isinstance(value, ast.AugAssign):
        return True
    return isinstance(value, ast.expr) and conditions.mentions(value, holder)


def _is_in_loop(write: AttributeWrite) -> bool:
    """Whether a loop replaces an option until it is right: `while args.workers < 2: args.workers += 1`."""
    return any(isinstance(block.owner, _LOOPS) and block.branch == "body" for block in write.binding.block.chain())


def _is_computed(write: AttributeWrite) -> bool:
    """Whether something other than a constant is written."""
    return not isinstance(write.binding.value, ast.Constant)


def _is_later(change: ast.AST, scope: Scope, use: ast.AST) -> bool:
    """Whether a use comes before a change in the same function, or is what the change itself asks and computes with."""
    at: ast.AST | None = use
    while at is not None and not isinstance(at, ast.stmt):
        at = parent(at)
    if at is None or scope_of(at) is not scope:
        return False
    return at is change or at.lineno < getattr(change, "lineno", 0)


def _stored_by_text(ev: Evaluator, namespace: Derived, name: str, use: ast.AST) -> list[ByText]:
    """What may be stored under the name of an option by a text, where nobody passes it: that may be anything."""
    found = (each for each in stored_by_text(ev) if each.may_store(name) and not _is_later(each.node, each.scope, use))
    return [each for each in found if _is_stored(ev, namespace, each)]


def _is_stored(ev: Evaluator, namespace: Derived, stored: ByText) -> bool:
    frame = Frame(stored.scope)
    is_held = any(holder.key == namespace.key for holder in ev.infer(stored.holder, frame))
    return is_held and not conditions.is_unreachable(ev, stored.node, frame)


def _names_option(ev: Evaluator, used: _Use, stored: ByText) -> bool:
    """Whether it spells out the option before a use, and it is known that this happens: the default counts no more."""
    if stored.names is None or not used.way.is_behind(stored.node, stored.scope):
        return False
    return happens(ev, stored.node, Frame(stored.scope))


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
    if _is_of_copy(write, scope) and not used.holders_of(change):
        return False if used.scope is scope else None
    if is_another(ev, used.namespace, write, scope):
        return False
    holders = ev.infer(write.target.value, Frame(scope))
    if holders and all(isinstance(holder, (ClassRef, Instance, Product)) for holder in holders):
        return False
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
    return bool(made) and all(isinstance(each, ast.Call) and last_name(each.func) in COPIES for each in made)


def _is_met(outcome: bool | None, wanted: bool) -> bool | None:
    return None if outcome is None else outcome is wanted


def _is_surely_entered(block: Block) -> bool:
    """Whether all that decides about a block is an `if`: not the body of a loop, what handles an error, or a `case`."""
    return isinstance(block.owner, (ast.If, ast.With, ast.Try, type(None))) and block.branch in _WHOLE
