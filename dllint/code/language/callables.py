"""What can be called in a value: functions, partials, callable objects, and what library objects were given."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language import classes, hub_rows
from dllint.code.language.elements import contents
from dllint.code.language.libcalls import merged_call
from dllint.code.language.links import bound_call, set_bound_call
from dllint.code.language.scopes import FunctionScope
from dllint.code.language.values import (
    ClassRef,
    Collection,
    Derived,
    Frame,
    Function,
    Instance,
    Partial,
    Product,
    Value,
)

if TYPE_CHECKING:
    from dllint.code.program import Program

_MOST_CALLABLES = 40
_DEEPEST = 40
"""Values around one another that are looked into: `data = Wrapper(data)`, written over and over."""
_MOST_PARTS = 40
"""Parts of a container that are looked into."""
_HOLDERS = (
    ast.Lambda,
    ast.Attribute,
    ast.Name,
    ast.Subscript,
    ast.List,
    ast.ListComp,
    ast.Tuple,
    ast.Call,
    ast.BinOp,
    ast.IfExp,
)
"""Expressions by which a library may be given something to call."""
_CALLED_AT_ONCE = frozenset({"blocks", "is_valid_file", "key", "get_items", "splitter"})
"""Arguments by which a library is given a function that it calls right then, and does not keep."""
_CALLS_FIRST = frozenset({"fastai.DataBlock"})
"""What calls its first argument at once."""
_CALLED_IN_MAIN = frozenset({"after_batch", "batch_tfms"})
"""What fastai does to whole batches, which it has put on the GPU before."""


def callable_method(program: Program, value: Instance) -> FunctionScope | None:
    """The method that calling an object runs: `__call__`, or what the `__call__` of a library runs, as `forward`."""
    return next(iter(called_methods(program, value)), None)


def called_methods(program: Program, value: Instance) -> list[FunctionScope]:
    """The methods that calling an object runs: several where the `__call__` of a library asks for more than one."""
    ev = program.evaluator
    own = classes.method(ev, value.cls, "__call__")
    if own is not None:
        return [own]
    names = (name for base in classes.external_bases(ev, value.cls) for name in apis.CALLED_METHODS.get(base, ()))
    found = [classes.method(ev, value.cls, name) for name in dict.fromkeys(names)]
    return [method for method in found if method is not None]


def callables(program: Program, value: Value, depth: int = 0) -> tuple[Value, ...]:
    """The project's functions and callable objects in a value: itself, in a list, or in what a library object got.

    `depth` counts the values around it; what lies too deep holds none.
    """
    memo = program.facts.callables_memo
    known = memo.get(value.key) if depth < _DEEPEST else ()
    if known is None:
        memo[value.key] = ()  # what a cycle sees
        found = {inner.key: inner for inner in islice(_callables(program, value, depth + 1), _MOST_CALLABLES * 4)}
        known = memo[value.key] = tuple(found.values())[:_MOST_CALLABLES]
    return known


def _callables(program: Program, value: Value, depth: int) -> Iterator[Value]:
    ev = program.evaluator
    if isinstance(value, (Function, Partial)) or _is_callable(program, value):
        yield value
    elif isinstance(value, Collection):
        for part in contents(ev, value, _MOST_PARTS):
            for inner in part:
                yield from callables(program, inner, depth)
    elif isinstance(value, ClassRef):
        yield from _instantiated(program, value)
    elif _is_data(value.origin if isinstance(value, Derived) else value):
        return
    elif isinstance(value, (Product, Derived)):
        yield from _kept(program, value, depth)


def _kept(program: Program, value: Product | Derived, depth: int) -> Iterator[Value]:
    """What the object of a library, or what its methods made of it, was given to call."""
    yield from _set_in_place(program, value, depth)
    if isinstance(value, Product):
        if not hub_rows.is_made_at_once(value):
            yield from _given(program, value.node, value.frame, depth, after=int(value.name in _CALLS_FIRST))
        return
    if isinstance(value.node, ast.Call) and _keeps_functions(program, value):
        yield from _given(program, value.node, value.frame, depth)
    yield from callables(program, value.base, depth)


def _instantiated(program: Program, value: ClassRef) -> Iterator[Value]:
    """The object that fastai makes of a class among the transforms that it is given."""
    if any(base in apis.MADE_OF_CLASSES for base in classes.external_bases(program.evaluator, value.cls)):
        yield Instance(value.cls)


def _is_callable(program: Program, value: Value) -> bool:
    return isinstance(value, Instance) and callable_method(program, value) is not None


def _is_data(value: Value) -> bool:
    """Whether a value is an array, an image or a tensor, made by a function that keeps nothing to call."""
    if not isinstance(value, Product) or value.name in apis.KEEPS_FUNCTIONS:
        return False
    package, _, rest = value.name.partition(".")
    return package in apis.DATA_PACKAGES or (package == "torch" and "." not in rest and rest.islower())


def _keeps_functions(program: Program, value: Derived) -> bool:
    """Whether a method's result calls what it was given later on: a data pipe does, a Hugging Face `map` is over."""
    return hub_rows.made_by(value) is None or hub_rows.keeps_function(program, value)


def _set_in_place(program: Program, value: Value, depth: int) -> Iterator[Value]:
    """The functions that `rows.set_transform(function)` has given to a data set."""
    for call, frame in hub_rows.set_in_place(program, value, "set_transform"):
        yield from _given(program, call, frame, depth)


def _given(program: Program, call: ast.Call, frame: Frame, depth: int, *, after: int = 0) -> Iterator[Value]:
    """What a call was given to keep; of its positional arguments those `after` the first ones."""
    listed = (argument.value if isinstance(argument, ast.Starred) else argument for argument in call.args[after:])
    for argument in [*listed, *(k.value for k in call.keywords if k.arg not in _CALLED_AT_ONCE | _CALLED_IN_MAIN)]:
        if _may_hold_callable(argument):
            for value in program.evaluator.values(argument, frame):
                yield from callables(program, value, depth)


def _may_hold_callable(node: ast.AST) -> bool:
    return isinstance(node, _HOLDERS)


def innermost(value: Value) -> Value:
    """What a partial, or a partial of one, calls in the end."""
    while isinstance(value, Partial):
        value = value.target
    return value


def bound_partial(value: Partial) -> list[tuple[Function, Frame]]:
    """The function that a partial calls, in a frame with the arguments that it binds."""
    target = innermost(value)
    if not isinstance(target, Function):
        return []
    call = bound_call(value.node)
    if call is None:
        empty = ast.copy_location(ast.Call(func=value.node.func, args=[], keywords=[]), value.node)
        call = merged_call(value, empty)
        set_bound_call(value.node, call)
    return [(target, Frame(target.scope, target.receiver, call, value.frame, target.outer))]
