"""Project classes: their method resolution order, and what their objects' attributes can be."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from dllint.code.language import conditions, fields, folding
from dllint.code.language.bindings import AttributeWrite
from dllint.code.language.members import writes_by_name
from dllint.code.language.scopes import ClassScope, FunctionScope, Scope, dotted
from dllint.code.language.values import (
    UNKNOWNS,
    ClassRef,
    External,
    Frame,
    Function,
    Instance,
    Super,
    Unknown,
    Value,
    Values,
    constants,
    derived,
    merge,
)

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator

Base = ClassScope | str
"""A class of the project, or the dotted name of a library's; `?` for one that could not be resolved."""

_MOST_CLASSES = 60
_MOST_WRITES = 100
"""Writes of one attribute. More were written by a program."""


def bases(ev: Evaluator, cls: ClassScope) -> tuple[Base, ...]:
    """The direct bases of a class."""
    known = ev.program.bases_memo.get(cls)
    if known is None:
        ev.program.bases_memo[cls] = ("?",)  # what a cycle sees
        known = tuple(_bases(ev, cls))
        ev.program.bases_memo[cls] = known
    return known


def _bases(ev: Evaluator, cls: ClassScope) -> Iterator[Base]:
    frame = Frame(cls.parent or cls)
    for node in cls.node.bases:
        found = ev.values(node, frame)
        for value in found[:3]:
            if isinstance(value, ClassRef) and value.cls is not cls:
                yield value.cls
            elif isinstance(value, External):
                yield value.name
            else:
                yield "?"


def mro(ev: Evaluator, cls: ClassScope) -> tuple[Base, ...]:
    """The class, then its bases in the order in which attributes are looked up."""
    known = ev.program.mro_memo.get(cls)
    if known is None:
        known = ev.program.mro_memo[cls] = tuple(_linear(ev, cls))
    return known


def _linear(ev: Evaluator, cls: ClassScope) -> list[Base]:
    """Depth first, a shared base after all that derive from it: Python's order wherever real code has one."""
    after: list[Base] = []
    """In the order in which they are left, the rightmost base first: turned round, it is the order that is wanted."""
    entered: set[Base] = {cls}
    pending: list[tuple[Base, Iterator[Base]]] = [(cls, _from_the_right(ev, cls))]
    while pending:
        at, further = pending[-1]
        base = next((base for base in further if base not in entered), None)
        if base is None or len(entered) >= _MOST_CLASSES:
            after.append(at)
            pending.pop()
            continue
        entered.add(base)
        pending.append((base, _from_the_right(ev, base)))
    return after[::-1]


def _from_the_right(ev: Evaluator, base: Base) -> Iterator[Base]:
    return reversed(bases(ev, base)) if isinstance(base, ClassScope) else iter(())


def project_mro(ev: Evaluator, cls: ClassScope) -> Iterator[ClassScope]:
    """The project classes of the resolution order."""
    return (base for base in mro(ev, cls) if isinstance(base, ClassScope))


def external_bases(ev: Evaluator, cls: ClassScope) -> Iterator[str]:
    """The library classes of the resolution order."""
    return (base for base in mro(ev, cls) if isinstance(base, str))


def method(ev: Evaluator, cls: ClassScope, name: str, after: ClassScope | None = None) -> FunctionScope | None:
    """The method that `object.name` finds; with `after`, the one that `super().name` finds in that class."""
    memo, key = ev.program.methods_memo, (cls, name, after)
    if key not in memo:
        memo[key] = _find_method(ev, cls, name, after)
    return memo[key]


def _find_method(ev: Evaluator, cls: ClassScope, name: str, after: ClassScope | None) -> FunctionScope | None:
    passed = after is None
    for base in project_mro(ev, cls):
        if passed and name in base.methods:
            return base.methods[name]
        passed = passed or base is after
    return None


def attribute(ev: Evaluator, value: Instance | ClassRef | Super, name: str, node: ast.AST, frame: Frame) -> Values:
    """What `value.name` can be."""
    if isinstance(value, Super):
        return _super_attribute(ev, value, name)
    if name == "__class__":
        return (ClassRef(value.cls),)
    found = method(ev, value.cls, name)
    if found is not None:
        if found.is_property and isinstance(value, Instance):
            return ev.returned(Function(found, value), None, frame)
        bound = None if isinstance(value, ClassRef) and "classmethod" not in found.decorators else value
        return (Function(found, bound),)
    written = ((write, inner) for write, inner in writes(ev, value, name) if not write.element)
    made = [each for each in islice(written, _MOST_WRITES) if not _never_happens(ev, value, *each)]
    stored = merge(ev.written(write, inner) for write, inner in made)
    if not stored or all(_is_after_fields(write, inner) for write, inner in made):
        return merge([stored, _class_level(ev, value, name, node, frame)])
    return stored


def _never_happens(ev: Evaluator, value: Value, write: AttributeWrite, frame: Frame) -> bool:
    """Whether an object, as it is made, passes by a write: `if debug: self.workers = 0` without `debug`."""
    if isinstance(value, Instance) and value.node is None:
        return False  # an object of any class that derives from it
    text, around = dotted(write.target), conditions.leading_to(write.node)
    tests = ((test, wanted) for test, wanted in around if not conditions.mentions(test, text))
    return any(folding.verdict(ev, test, frame) is (not wanted) for test, wanted in tests)


def _is_after_fields(write: AttributeWrite, frame: Frame) -> bool:
    """Whether the `__post_init__` of a dataclass may leave a field as it is: `if self.debug: self.workers = 0`."""
    return frame.scope.name == "__post_init__" and bool(conditions.leading_to(write.node))


def _super_attribute(ev: Evaluator, value: Super, name: str) -> Values:
    found = method(ev, value.receiver.cls, name, after=value.owner)
    if found is not None:
        return (Function(found, value.receiver),)
    names = list(external_bases(ev, value.receiver.cls))
    return (External(f"{names[0]}.{name}"),) if names and names[0] != "?" else UNKNOWNS


def _class_level(ev: Evaluator, value: Instance | ClassRef, name: str, node: ast.AST, frame: Frame) -> Values:
    if isinstance(value, Instance) and value.node is not None and value.frame is not None:
        names = fields.fields(project_mro(ev, value.cls)) if value.node.args else ()
        given = fields.passed(value.node, names, name)
        if given is not None and _takes_keywords(ev, value.cls):
            return ev.infer(given, value.frame)
    for base in project_mro(ev, value.cls):
        bindings = base.index().bindings.get(name)
        if bindings:
            found = ev.bound(bindings[-1], Frame(base))
            # A field that is None until a config fills it says nothing.
            return _or_replaced(ev, value, name, UNKNOWNS if constants(found) == [None] else found)
    if any(base != "?" for base in external_bases(ev, value.cls)):
        return (derived(value, f".{name}", node, frame),)
    return UNKNOWNS


def _takes_keywords(ev: Evaluator, cls: ClassScope) -> bool:
    """Whether the keywords of a class's call become attributes: in a dataclass, or by a loop with `setattr`."""
    made = method(ev, cls, "__init__")
    return made is None or _sets_any_attribute(made)


def _sets_any_attribute(made: FunctionScope) -> bool:
    """Whether a method stores its `**kwargs` as attributes: `setattr(self, name, value)`, `self.__dict__.update`."""
    extra = made.node.args.kwarg
    if extra is None or made.receiver_name is None:
        return False
    for call in made.index().calls:
        called = dotted(call.func)
        if called == f"{made.receiver_name}.__dict__.update":
            return True
        if called == "setattr" and len(call.args) == 3 and dotted(call.args[0]) == made.receiver_name:
            return not isinstance(call.args[1], ast.Constant)
    return False


def sets_by_text(cls: ClassScope) -> bool:
    """Whether a class sets attributes by names that are not spelled out: `setattr(self, name, value)`, `__dict__`."""
    methods = [method.index() for method in cls.methods.values()]
    return any(m.calls_of("setattr") or any(a.attr == "__dict__" for a in m.attributes) for m in methods)


def _or_replaced(ev: Evaluator, value: Instance | ClassRef, name: str, found: Values) -> Values:
    """The value of a class, or what an object of it is given from outside: `config.num_workers = 4`."""
    made = method(ev, value.cls, "__init__")
    splat = isinstance(value, Instance) and value.node is not None and any(k.arg is None for k in value.node.keywords)
    unseen = isinstance(value, Instance) and (value.node is None or splat)
    if unseen and made is not None and _sets_any_attribute(made):
        found = merge([found, (Unknown(name, overrides=True),)])
    return merge([found, *(ev.written(write, frame) for write, frame in _outside_writes(ev, value.cls, name))])


def is_set_from_outside(ev: Evaluator, cls: ClassScope, name: str) -> bool:
    """Whether code outside of its class sets an attribute of an object: `dataset.training = True`."""
    return any(_outside_writes(ev, cls, name))


def _outside_writes(ev: Evaluator, cls: ClassScope, name: str) -> Iterator[tuple[AttributeWrite, Frame]]:
    for write, scope in writes_by_name(ev.program, name):
        if is_own(write, scope):
            continue
        frame = Frame(scope)
        holders = ev.infer(write.target.value, frame)
        if any(_gives_to(ev, holder, cls) and not _never_happens(ev, holder, write, frame) for holder in holders):
            yield write, frame


def _gives_to(ev: Evaluator, holder: Value, cls: ClassScope) -> bool:
    """Whether an object of a class has what is stored on `holder`: such an object, its class or a base."""
    if isinstance(holder, ClassRef):
        return holder.cls in project_mro(ev, cls)
    return isinstance(holder, Instance) and holder.cls is cls


def is_own(write: AttributeWrite, scope: Scope) -> bool:
    """Whether a method stores an attribute on its own object."""
    holder = write.target.value
    return isinstance(scope, FunctionScope) and isinstance(holder, ast.Name) and holder.id == scope.receiver_name


def writes(ev: Evaluator, value: Instance | ClassRef, name: str) -> Iterator[tuple[AttributeWrite, Frame]]:
    """The places where a method of the object's class stores this attribute, each with the frame to read it in."""
    for base in project_mro(ev, value.cls):
        for write, scope in base.writes_of(name):
            yield write, method_frame(ev, value, scope)


def method_frame(ev: Evaluator, value: Instance | ClassRef, scope: FunctionScope) -> Frame:
    """The frame in which a method runs on an object: for `__init__` with the arguments that made the object."""
    if isinstance(value, Instance) and scope.name == "__init__" and value.node is not None:
        bound = init_frame(ev, value, scope)
        if bound is not None:
            return bound
    return Frame(scope, value)


def init_frame(ev: Evaluator, value: Instance, scope: FunctionScope) -> Frame | None:
    """The activation of `scope`, an `__init__`, when the object was made: through `super().__init__()` calls too."""
    if value.node is None:
        return None
    first = method(ev, value.cls, "__init__")
    if first is None:
        return None
    frame = Frame(first, value, value.node, value.frame)
    for _ in range(6):
        if frame.scope is scope:
            return frame
        onward = _super_init(ev, frame, value)
        if onward is None:
            return None
        frame = onward
    return None


def _super_init(ev: Evaluator, frame: Frame, value: Instance) -> Frame | None:
    owner = frame.scope.parent
    if not isinstance(owner, ClassScope):
        return None
    for call in frame.scope.index().calls_of("__init__"):
        following = _entered(ev, call, frame, value, owner)
        if following is not None:
            return Frame(following, value, call, frame)
    return None


def _entered(ev: Evaluator, call: ast.Call, frame: Frame, value: Instance, owner: ClassScope) -> FunctionScope | None:
    """The `__init__` that `super().__init__(...)` or `Base.__init__(self, ...)` runs."""
    holder = call.func.value if isinstance(call.func, ast.Attribute) else None
    if isinstance(holder, ast.Call):
        return method(ev, value.cls, "__init__", after=owner)
    named = ev.infer(holder, frame) if isinstance(holder, (ast.Name, ast.Attribute)) else ()
    bases = [one.cls for one in named if isinstance(one, ClassRef) and one.cls in project_mro(ev, value.cls)]
    return method(ev, bases[0], "__init__") if len(bases) == len(named) == 1 else None


def element_writes(ev: Evaluator, node: ast.Attribute, frame: Frame) -> list[Values]:
    """What `self.name[key] = value` and `self.name.append(value)` put into the container that `node` names."""
    groups: list[Values] = []
    for holder in ev.infer(node.value, frame):
        if isinstance(holder, Instance):
            groups += [ev.written(w, inner) for w, inner in writes(ev, holder, node.attr) if w.element]
    return groups


def is_subclass(ev: Evaluator, cls: ClassScope, names: frozenset[str]) -> bool:
    """Whether a library class of these names is among the bases, direct or not."""
    return any(base in names for base in external_bases(ev, cls))


def owner_of(scope: Scope) -> ClassScope | None:
    """The class whose method `scope` is, or lies in."""
    at: Scope | None = scope
    while at is not None:
        if isinstance(at.parent, ClassScope) and isinstance(at, FunctionScope):
            return at.parent
        at = at.parent
    return None


def without_itself(found: Values, name: str, frame: Frame) -> Values:
    """What an attribute may hold, without objects that would have to be whole before they are made."""
    if len(found) < 2 or not isinstance(frame.receiver, Instance):
        return found
    return merge([(Unknown(name),) if _makes_itself(value, frame) else (value,) for value in found])


def _makes_itself(value: Value, frame: Frame) -> bool:
    """Whether an object would hold another of its class that its own methods make while it is made: that had no end, so
    that such a factory (`self.part = self.from_config(config)`) makes something else there."""
    receiver = frame.receiver
    if not isinstance(value, Instance) or not isinstance(receiver, Instance) or value.cls is not receiver.cls:
        return False
    maker = value.frame.caller if value.frame is not None else None
    while maker is not None and maker.scope is not frame.scope:
        maker = maker.caller
    return maker is not None
