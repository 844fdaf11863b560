"""Classes of plain data, without what `dataclasses` costs at start: half a millisecond for each class, and `inspect`.

To a type checker these are the `dataclass`, `field` and `replace` of the standard library. At run time they do what is
used of those here: `__init__`, `__repr__`, `__eq__` and `__hash__` by the fields, slots, and an order where it is asked
for. That nothing writes to a frozen one is for the type checker to see.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "field", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass, field, replace
else:
    from operator import attrgetter, ge, gt, le, lt

    class _Field:
        """What `field(...)` says of a field."""

        def __init__(self, default: Any, default_factory: Any, shown: bool) -> None:
            self.default = default
            self.default_factory = default_factory
            self.shown = shown

    def field(*, default=None, default_factory=None, repr=True):  # noqa: A002 - the name that callers know
        """A default that is made anew for each object, or a field that `repr` leaves out."""
        return _Field(default, default_factory, repr)

    def replace(record, /, **changes):
        """A copy of a record with other values in some fields."""
        kept = {name: getattr(record, name) for name in record.__match_args__ if name not in changes}
        return type(record)(**kept, **changes)

    def dataclass(cls=None, /, *, frozen=False, slots=False, eq=True, order=False):
        """Make a class a record, with the options that the standard library has."""
        if cls is None:
            return lambda cls: dataclass(cls, frozen=frozen, slots=slots, eq=eq, order=order)
        names = tuple(cls.__annotations__)
        body = {name: value for name, value in cls.__dict__.items() if name not in (*names, "__dict__", "__weakref__")}
        every = getattr(cls, "__match_args__", ()) + names  # those of a record that it derives from come first
        defaults = {name: cls.__dict__[name] for name in names if name in cls.__dict__}
        defaults = {**getattr(cls, "__record_defaults__", {}), **defaults}
        hidden = {name for name, value in defaults.items() if isinstance(value, _Field) and not value.shown}
        made = {
            "__qualname__": cls.__qualname__,
            "__match_args__": every,
            "__record_defaults__": defaults,
            "__init__": _init(every, defaults),
            "__repr__": _repr([name for name in every if name not in hidden]),
        }
        if slots:
            made["__slots__"] = names
        if eq:
            made |= _compared(attrgetter(*every), frozen)
        if order:
            made |= _ordered(attrgetter(*every))
        return type(cls)(cls.__name__, cls.__bases__, {**made, **body})

    def _init(names, defaults):
        """The `__init__` that stores what it is given. It is made for the first object: many classes never see one."""
        made = []

        def first(self, /, *given, **named):
            if not made:
                made.append(_compiled(names, defaults))
            for owner in type(self).__mro__:
                if owner.__dict__.get("__init__") is first:
                    owner.__init__ = made[0]
            made[0](self, *given, **named)

        return first

    def _compiled(names, defaults):
        """Compiled, since records are made by the thousand."""
        parameters, lines, known = [], [], {}
        for name in names:
            default = defaults.get(name)
            if isinstance(default, _Field) and default.default_factory is not None:
                known[f"_make_{name}"] = default.default_factory
                parameters.append(f"{name}=None")
                lines.append(f" self.{name} = _make_{name}() if {name} is None else {name}")
                continue
            if name in defaults:
                known[f"_{name}"] = default.default if isinstance(default, _Field) else default
            parameters.append(f"{name}=_{name}" if name in defaults else name)
            lines.append(f" self.{name} = {name}")
        space = {}
        exec(f"def __init__(self, {', '.join(parameters)}):\n" + "\n".join(lines), known, space)
        return space["__init__"]

    def _repr(names):
        def shown(self):
            return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

        return shown

    def _compared(key, frozen):
        def equal(self, other):
            return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

        def hashed(self):
            return hash(key(self))

        return {"__eq__": equal, "__hash__": hashed if frozen else None}

    def _ordered(key):
        def by(compare):
            return lambda self, other: (
                compare(key(self), key(other)) if other.__class__ is self.__class__ else NotImplemented
            )

        return {"__lt__": by(lt), "__le__": by(le), "__gt__": by(gt), "__ge__": by(ge)}
