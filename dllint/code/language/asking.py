"""What an object is asked for by a name or a class: `isinstance`, `hasattr` and `getattr`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language import classes
from dllint.code.language.scopes import ClassScope
from dllint.code.language.values import (
    UNKNOWN,
    UNKNOWNS,
    ClassRef,
    Collection,
    Const,
    External,
    Frame,
    Instance,
    Product,
    Value,
    Values,
    merge,
)

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator

_MOST_NAMES = 12
_BARE = frozenset(
    ("torch.utils.data.Dataset", "torch.utils.data.IterableDataset", "abc.ABC", "typing.Generic", "builtins.object")
)
"""Library classes that give an object nothing but special methods, and of these no `__getitems__`."""
_OF_BARE = frozenset((*dir(object), "__add__", "__getitem__", "__iter__", "__getattr__", "functions", "__slots__"))
"""What they may have, in one version of torch or another."""
_BY_ANY_NAME = ("__getattr__", "__getattribute__")
_SEQUENCES: dict[str, type] = {"list": list, "tuple": tuple}


def isinstance_call(ev: Evaluator, call: ast.Call, frame: Frame) -> Values:
    """`isinstance(value, kind)`."""
    if len(call.args) != 2:
        return UNKNOWNS
    wanted = ev.infer(call.args[1], frame)
    found = [_is_a(ev, value, kind) for value in ev.infer(call.args[0], frame) for kind in wanted]
    return merge((UNKNOWN if is_a is None else Const(is_a, call, frame.scope),) for is_a in found)


_BUILT_IN: dict[str, type] = {
    f"builtins.{kind.__name__}": kind for kind in (bool, dict, float, int, list, set, str, tuple)
}


def _is_a(ev: Evaluator, value: Value, kind: Value) -> bool | None:
    """Whether an object is of a class; None if that is not known."""
    if isinstance(value, Instance):
        order = classes.mro(ev, value.cls)
        if isinstance(kind, ClassRef):
            return kind.cls in order
        if isinstance(kind, External):
            return True if kind.name in order else None if "?" in order else _is_library_a(order, kind.name)
    if isinstance(value, Const):
        built_in = _BUILT_IN.get(kind.name) if isinstance(kind, External) else None
        if built_in is not None:
            return isinstance(value.value, built_in)
        return False if value.value is None and isinstance(kind, ClassRef) else None
    if isinstance(value, Product) and isinstance(kind, External) and value.name.startswith("torch.utils.data."):
        return _is_library_a((value.name,), kind.name)
    return None


def _is_library_a(names: tuple[classes.Base, ...], wanted: str) -> bool | None:
    """Only of torch's own dataset classes is it known which derive from IterableDataset."""
    if wanted != "torch.utils.data.IterableDataset":
        return None
    return any(name in apis.ITERABLE_BASES for name in names)


def hasattr_call(ev: Evaluator, call: ast.Call, frame: Frame) -> Values:
    """`hasattr(value, name)`, as far as the classes of the project tell."""
    names = ev.infer(call.args[1], frame) if len(call.args) == 2 else ()
    name = names[0].value if len(names) == 1 and isinstance(names[0], Const) else None
    if not isinstance(name, str):
        return UNKNOWNS
    found = [_has(ev, value, name) for value in ev.infer(call.args[0], frame)]
    return merge((UNKNOWN if has is None else Const(has, call, frame.scope),) for has in found)


def getattr_call(ev: Evaluator, call: ast.Call, frame: Frame) -> Values:
    """What has the name that a text says, or any of those that it may say: `getattr(transforms, args.transform)`."""
    names = ev.infer(call.args[1], frame)[:_MOST_NAMES] if len(call.args) > 1 else ()
    texts = [name.value for name in names if isinstance(name, Const) and isinstance(name.value, str)]
    if not texts:
        return UNKNOWNS
    default = ev.infer(call.args[2], frame) if len(call.args) > 2 else ()
    found = []
    for text in texts:
        for value in ev.infer(call.args[0], frame):
            is_there = _has(ev, value, text) if default else True
            found += [ev.attribute(value, text, call, frame)] if is_there is not False else []
            found += [default] if is_there is not True else []
    return merge([*found, () if len(texts) == len(names) else UNKNOWNS])


def _has(ev: Evaluator, value: Value, name: str) -> bool | None:
    """Whether a value has an attribute; None if that is not known."""
    if isinstance(value, Const):
        return hasattr(value.value, name)
    if isinstance(value, Collection) and value.kind in _SEQUENCES:
        return hasattr(_SEQUENCES[value.kind], name)
    if not isinstance(value, Instance):
        return None
    family = list(classes.project_mro(ev, value.cls))
    bound = [binding for cls in family for binding in cls.index().bindings.get(name, ())]
    if bound:
        return True if any(binding.value is not None for binding in bound) else None
    if value.node is None or any(write for cls in family for write in cls.writes_of(name)):
        return None  # an object of a class that derives from this one, or an attribute that comes with time
    return None if _may_get(ev, value, family, name) else False


def _may_get(ev: Evaluator, value: Instance, family: list[ClassScope], name: str) -> bool:
    """Whether an object may have an attribute that its project classes do not bind: by a library, or by `setattr`."""
    if name in _OF_BARE or not _BARE.issuperset(classes.external_bases(ev, value.cls)):
        return True
    if any(special in cls.methods for cls in family for special in _BY_ANY_NAME) or any(
        map(classes.sets_by_text, family)
    ):
        return True
    written = (found for module in ev.program.modules_with(f".{name} =") for found in module.writes_of(name))
    return any(not classes.is_own(write, scope) for write, scope in written)
