"""What is known of an expression without running anything.

The answer to "what can this be?" is a tuple of values, one for each possibility. `UNKNOWN` among them says that there
may be others. An empty tuple never leaves the evaluator.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from dllint.code.apis.randomness import GENERATORS
from dllint.code.language.scopes import ClassScope, FunctionScope, Scope
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.language.modules import Module

_LONGEST_CHAIN = 10
MOST_VALUES = 12
"""More possibilities than this say nothing: the rest becomes UNKNOWN."""


class Frame:
    """One activation of a scope: which object its methods belong to, and which call entered it, where that is known.

    `outer` is the frame around a nested function, for what it closes over. Equal frames are one object, so that what is
    found out in one of them is found out once.
    """

    __slots__ = ("call", "caller", "depth", "extra", "outer", "receiver", "scope")

    scope: Scope
    receiver: Instance | ClassRef | None
    call: ast.Call | None
    caller: Frame | None
    outer: Frame | None
    depth: int
    """How many calls lead here from a frame that no call is known of."""
    extra: dict[str, ast.expr]
    """The nodes that stand for what `*args` and `**options` hold: see `extra_arguments`."""

    def __new__(
        cls,
        scope: Scope,
        receiver: Instance | ClassRef | None = None,
        call: ast.Call | None = None,
        caller: Frame | None = None,
        outer: Frame | None = None,
    ) -> Frame:
        """The frame of this activation."""
        key = (None if receiver is None else receiver.key, id(call), id(caller), id(outer))
        known = scope.frames.get(key)
        if known is not None:
            return known
        self = super().__new__(cls)
        self.scope, self.receiver, self.call, self.caller, self.outer = scope, receiver, call, caller, outer
        self.depth = 0 if caller is None else caller.depth + 1
        self.extra = {}
        scope.frames[key] = self
        return self

    def way(self) -> Iterator[Frame]:
        """This frame, then those that lead to it, up to one that no call is known of."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.caller


@dataclass(frozen=True, slots=True, eq=False)
class Unknown:
    """Could be anything. `name` is the parameter or attribute that it came by, where there is one.

    `overrides` marks what a caller outside of the project may pass instead of a default that stands beside it,
    `uncalled` a parameter of a function that nothing in the project is seen to call.
    """

    name: str = ""
    overrides: bool = False
    uncalled: bool = False

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells it from other values."""
        return ("unknown", self.name, self.overrides, self.uncalled)


@dataclass(frozen=True, slots=True, eq=False)
class Const:
    """A constant of the source."""

    value: Any
    node: ast.AST
    scope: Scope | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells it from other values."""
        return ("const", type(self.value).__name__, repr(self.value)[:200])


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """A number that is not known, but its bounds are. `cpus` marks a multiple of the machine's processor count, `real`
    a float."""

    low: float | None
    high: float | None
    node: ast.AST
    cpus: bool = False
    real: bool = False

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells it from other values."""
        return ("number", self.low, self.high, self.cpus, self.real)


@dataclass(frozen=True, slots=True, eq=False)
class External:
    """Something of a library, by its dotted name: `torch.utils.data.DataLoader`."""

    name: str

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells it from other values."""
        return ("external", self.name)


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """What a call of something in a library gives: `h5py.File(path)`."""

    name: str
    node: ast.Call
    frame: Frame

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells it from other values."""
        return ("product", self.name, id(self.node))


class Derived:
    """What is got out of another value: `via` is `.name` for an attribute, `.name()` for a method call, `[]` for an
    item (`index` where the source says which), `each` for an element, `with` for what a context manager gives."""

    __slots__ = ("base", "frame", "index", "key", "length", "node", "via")

    key: tuple[Any, ...]
    length: int
    """How many steps lead here from the origin."""

    def __init__(self, base: Value, via: str, node: ast.AST, frame: Frame, index: int | str | None = None) -> None:
        self.base = base
        self.index = index
        self.via = via
        self.node = node
        self.frame = frame
        self.length = base.length + 1 if isinstance(base, Derived) else 1
        # The hash stands for the base: chains are long, and tuples hash anew each time.
        self.key = ("derived", via, index, id(node), hash(base.key))

    @property
    def origin(self) -> Value:
        """The value at the start of the chain."""
        value: Value = self
        while isinstance(value, Derived):
            value = value.base
        return value

    def chain(self) -> Iterator[Derived]:
        """This step, then the ones before it."""
        value: Value = self
        while isinstance(value, Derived):
            yield value
            value = value.base


@dataclass(frozen=True, slots=True, eq=False)
class ModuleRef:
    """A module of the project."""

    module: Module

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells it from other values."""
        return ("module", id(self.module))


@dataclass(frozen=True, slots=True, eq=False)
class ClassRef:
    """A class of the project."""

    cls: ClassScope

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells it from other values."""
        return ("class", id(self.cls))


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """An object of a project class; `node` is the call that made it, where that is known."""

    cls: ClassScope
    node: ast.Call | None = None
    frame: Frame | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells it from other values."""
        return ("instance", id(self.cls), id(self.node))


@dataclass(frozen=True, slots=True, eq=False)
class Super:
    """`super()` in a method of `owner`, on an object of `receiver`'s class."""

    owner: ClassScope
    receiver: Instance | ClassRef

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells it from other values."""
        return ("super", id(self.owner), self.receiver.key)


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function or lambda of the project, bound to an object if it is a method."""

    scope: FunctionScope
    receiver: Instance | ClassRef | None = None
    outer: Frame | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells it from other values."""
        return ("function", id(self.scope), self.receiver.key if self.receiver else None)


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    """`functools.partial(target, ...)`."""

    target: Value
    node: ast.Call
    frame: Frame

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells it from other values."""
        return ("partial", id(self.node))


@dataclass(frozen=True, slots=True, eq=False)
class Collection:
    """A list, tuple, set, dict or generator that the source spells out: a display, a comprehension, `dict(a=1)`.

    `each` holds the values of a comprehension's or conversion's elements, whose number is not known.
    """

    kind: str
    node: ast.AST
    frame: Frame
    items: tuple[ast.expr, ...] = ()
    keys: tuple[ast.expr | str | None, ...] = ()
    each: tuple[Value, ...] | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells it from other values."""
        return ("collection", self.kind, id(self.node))


Value = (
    Unknown
    | Const
    | Number
    | External
    | Product
    | Derived
    | ModuleRef
    | ClassRef
    | Instance
    | Super
    | Function
    | Partial
    | Collection
)
Values = tuple[Value, ...]

UNKNOWN = Unknown()
UNKNOWNS: Values = (UNKNOWN,)


def derived(base: Value, via: str, node: ast.AST, frame: Frame, index: int | str | None = None) -> Value:
    """What `via` gets out of `base`; unknown at the end of a long chain (`x = x.f()` in a loop)."""
    if isinstance(base, Derived) and base.length >= _LONGEST_CHAIN:
        return UNKNOWN
    return Derived(base, via, node, frame, index)


def merge(groups: Iterable[Values]) -> Values:
    """All values of the groups, each once, in order."""
    groups = list(groups)
    if len(groups) == 1 and len(groups[0]) <= 1:
        return groups[0]
    found: dict[tuple[Any, ...], Value] = {}
    for group in groups:
        for value in group:
            found.setdefault(value.key, value)
    if len(found) > MOST_VALUES:
        return (*list(found.values())[:MOST_VALUES], UNKNOWN)
    return tuple(found.values())


def is_unknown(values: Values) -> bool:
    """Whether these may be anything else as well."""
    return any(isinstance(value, Unknown) for value in values)


def by_default(values: Values) -> Values:
    """The values that hold when nobody outside of the project passes others."""
    kept = tuple(v for v in values if not (isinstance(v, Unknown) and v.overrides))
    return kept or UNKNOWNS


def constants(values: Values) -> list[Any]:
    """The constants among the values."""
    return [value.value for value in values if isinstance(value, Const)]


def bounds(value: Value) -> tuple[float | None, float | None] | None:
    """The lowest and highest number that a value can be; None if it is no number, or not known to be one."""
    if isinstance(value, Const):
        if isinstance(value.value, (int, float)):
            return (value.value, value.value)
        return None
    if isinstance(value, Number):
        return (value.low, value.high)
    return None


def is_plain_object(value: Value) -> bool:
    """Whether a library call certainly gives an object that counts as true, however empty."""
    return isinstance(value, Product) and (value.name in GENERATORS or value.name == "torch.device")


def truth(value: Value) -> bool | None:
    """Whether the value counts as true; None if that is not known."""
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, Number):
        if value.low is not None and value.low > 0:
            return True
        return None
    if isinstance(value, Collection):
        return bool(value.items) if value.each is None else None
    if isinstance(value, (Unknown, Product, Derived, External)):
        return True if isinstance(value, External) or is_plain_object(value) else None
    return True
