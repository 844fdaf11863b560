"""By which names a namespace of options goes on its way: in what asks it, in what hands it on, where it is parsed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language import classes, conditions
from dllint.code.language.bindings import AttributeWrite, Binding
from dllint.code.language.links import scope_of
from dllint.code.language.parameters import passed
from dllint.code.language.reaching import reaching
from dllint.code.language.scopes import FunctionScope, Scope, dotted, last_name
from dllint.code.language.values import Derived, Frame, Instance
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator

COPIES = frozenset({"copy", "deepcopy"})
_MOST_NAMES = 20
_KEEPING = frozenset({"cache", "lru_cache", "cached_property", "lazy_property"})
"""Decorators of what gives the same object again."""
_END = (1 << 30, 0)
"""Behind all places of a file."""


@dataclass(frozen=True, slots=True)
class Holder:
    """A name that the namespace certainly has in a scope."""

    scope: Scope
    name: str
    left: ast.AST | None
    """What asks it there, or hands it on; None where that is not known."""

    def is_given_before(self, write: AttributeWrite) -> bool:
        """Whether it is asked or handed on before something is stored on it."""
        return self.left is not None and _place(self.left) <= _place(write.node)

    def is_bound_again(self, write: AttributeWrite) -> bool:
        """Whether the name may mean another namespace by the time that it is asked or handed on, than when something is
        stored on it."""
        root, _, attribute = self.name.partition(".")
        home = _home_of(self.scope, root)
        if home is None:
            return True
        bound = [*home.index().bindings.get(root, ()), *_stored(self.scope, attribute)]
        if home is not self.scope:
            return len(bound) > 1 or root in home.module.set_by_functions
        end = _place(self.left) if self.left is not None else _END
        return any(_place(write.node) < _place(one.node) < end for one in bound)


def holders_on_the_way(ev: Evaluator, asked: ast.expr, use: ast.AST, around: Frame) -> Iterator[Holder]:
    """The names of the namespace that a use asks, from there back through the calls that hand it on to where it is
    made: `opt` in a function, `args` in the `build(args)` that calls it."""
    step: _Step | None = _Step(asked, use, around)
    for _ in range(_MOST_NAMES):
        name = dotted(step.node) if step is not None else ""
        if not name or step is None:
            return
        scope = scope_of(step.node)
        yield Holder(scope, name, step.left)
        home = _home_of(scope, name.partition(".")[0])
        if home is not None and home is not scope:
            yield Holder(home, name, _call_from(home, step.frame))
            return
        step = _before(ev, step, name, scope)


@dataclass(frozen=True, slots=True)
class _Step:
    """An expression that gives the namespace, what asks it or hands it on, and the frame of both."""

    node: ast.AST
    left: ast.AST | None
    frame: Frame


def _before(ev: Evaluator, step: _Step, name: str, scope: Scope) -> _Step | None:
    """What gives a name of the namespace its meaning in its scope."""
    root, _, attribute = name.partition(".")
    bound = scope.index().bindings.get(root, ())
    if len(bound) != 1 or scope is not step.frame.scope:
        return None
    if attribute:
        return _kept(ev, attribute, step.frame) if _is_receiver(root, scope) else None
    if bound[0].kind == "parameter":
        return _passed(ev, step, root, scope)
    return _named(step, bound[0].value) if bound[0].kind == "assign" else None


def _named(step: _Step, value: ast.AST | None) -> _Step | None:
    """What is given another name: `opt = args`; of `opt = copy.copy(args)` what it is by then."""
    if isinstance(value, ast.Call) and last_name(value.func) in COPIES and value.args:
        return _Step(value.args[0], value, step.frame)
    return _Step(value, step.left, step.frame) if value is not None else None


def _passed(ev: Evaluator, step: _Step, name: str, scope: Scope) -> _Step | None:
    """What the call that enters a function hands on."""
    entered = _entered_by(ev, scope, step.frame)
    if entered is None or not isinstance(scope, FunctionScope):
        return None
    call, caller = entered
    given, _ = passed(name, scope, call)
    return _Step(given, call if step.left is not None else None, caller) if given is not None else None


def _entered_by(ev: Evaluator, scope: Scope, frame: Frame) -> tuple[ast.Call, Frame] | None:
    """The call that enters a frame, or the only one that the project has."""
    if frame.call is not None and frame.caller is not None:
        return frame.call, frame.caller
    calls = ev.program.call_sites(scope) if isinstance(scope, FunctionScope) else []
    return calls[0] if len(calls) == 1 else None


def _kept(ev: Evaluator, name: str, frame: Frame) -> _Step | None:
    """What an object keeps under a name that its class stores once: `self.opt = opt`. When it is asked is not known."""
    owner = frame.scope.owner if isinstance(frame.scope, FunctionScope) else None
    receiver = frame.receiver or (Instance(owner) if owner is not None else None)
    if not isinstance(receiver, Instance):
        return None
    stored = list(classes.writes(ev, receiver, name))
    if len(stored) != 1 or stored[0][0].element or stored[0][0].binding.kind != "assign":
        return None
    write, inner = stored[0]
    return _Step(write.binding.value, None, inner) if write.binding.value is not None else None


def _is_receiver(name: str, scope: Scope) -> bool:
    return isinstance(scope, FunctionScope) and scope.receiver_name == name


def _call_from(home: Scope, frame: Frame) -> ast.AST | None:
    """The call in an outer scope that leads to a frame: as far as that is known, or where it is the first by name."""
    for inner in frame.way():
        if inner.caller is not None and inner.caller.scope is home:
            return inner.call
        if inner.caller is None:
            return next(iter(home.index().calls_of(inner.scope.name)), None)
    return None


def _home_of(scope: Scope, name: str) -> Scope | None:
    """The scope that gives a name its meaning."""
    binder = scope.binder_of(name)
    if binder is not None and binder.index().bindings[name][0].kind == "global":
        return scope.module.scope
    return binder


def is_where_made(namespace: Derived, write: AttributeWrite, scope: Scope) -> bool:
    """Whether something is stored on what the parsing gives, or a call that leads to it: `args = parse()`."""
    made: ast.AST | None = namespace.node
    for frame in namespace.frame.way():
        if frame.scope is scope and any(one.value is made for one in _given(write, scope)):
            return True
        made = frame.call
    return False


def is_another(ev: Evaluator, namespace: Derived, write: AttributeWrite, scope: Scope) -> bool:
    """Whether something is stored on what another parsing has given, or another run of the same: `one, two = parse(),
    parse()`."""
    made = _given(write, scope)
    if len(made) != 1 or not isinstance(made[0].value, ast.Call):
        return False  # of what a function is passed, only one of several is seen
    others = ev.infer(write.target.value, Frame(scope))
    other = others[0] if len(others) == 1 else None
    if not isinstance(other, Derived) or other.via != namespace.via:
        return False
    if other.node is not namespace.node:
        return not _goes_on(other.node) and not _goes_on(namespace.node)
    return _is_parsed_anew(namespace) and _is_other_run(namespace.frame, other.frame)


def _goes_on(parsing: ast.AST) -> bool:
    """Whether a parsing may fill a namespace that another one has made: `parser.parse_args(rest, namespace=args)`."""
    if not isinstance(parsing, ast.Call):
        return True
    return len(parsing.args) > 1 or any(keyword.arg in ("namespace", None) for keyword in parsing.keywords)


def _is_parsed_anew(namespace: Derived) -> bool:
    """Whether each run of what parses the options makes a namespace of its own."""
    if conditions.leading_to(namespace.node):
        return False
    return not any(_is_kept(frame) for frame in namespace.frame.way())


def _is_kept(frame: Frame) -> bool:
    decorators = frame.scope.decorators if isinstance(frame.scope, FunctionScope) else ()
    called = frame.call if frame.caller is not None and frame.caller.caller is not None else None
    return not _KEEPING.isdisjoint(decorators) or (called is not None and bool(conditions.leading_to(called)))


def _is_other_run(one: Frame, other: Frame) -> bool:
    for mine, its in zip(one.way(), other.way(), strict=False):
        if mine.call is not None and its.call is not None and mine.call is not its.call:
            return True
        if _made(mine) is not None and _made(its) is not None and _made(mine) is not _made(its):
            return True
    return False


def _made(frame: Frame) -> ast.Call | None:
    return frame.receiver.node if isinstance(frame.receiver, Instance) else None


def _given(write: AttributeWrite, scope: Scope) -> list[Binding]:
    """What the holder of a write is bound to in the scope of it."""
    holder = write.target.value
    if isinstance(holder, ast.Name):
        bound = scope.index().bindings.get(holder.id, [])
        return reaching(bound, holder) if bound else []
    return _stored(scope, holder.attr) if isinstance(holder, ast.Attribute) else []


def _stored(scope: Scope, attribute: str) -> list[Binding]:
    return [write.binding for write in scope.index().writes_to(attribute)] if attribute else []


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
