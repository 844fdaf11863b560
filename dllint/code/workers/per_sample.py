"""Attributes of a dataset that hold one Python object for each sample."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.handles.opened import handle_of
from dllint.code.language.containers import filled_later
from dllint.code.language.loops import loop_around, loops_over_few
from dllint.code.language.values import (
    Collection,
    Const,
    Derived,
    Instance,
    Number,
    Product,
    Unknown,
    Value,
    Values,
)
from dllint.code.workers.state import Item

if TYPE_CHECKING:
    from dllint.code.program import Program


def container(program: Program, item: Item) -> str | None:
    """What kind of container of Python objects an attribute holds, one object for each sample: `a list of str`."""
    value = item.value
    if item.attribute in _NAMES_OF_CLASSES:
        return None
    if item.write.element:
        return _element_container(program, item)
    if isinstance(value, Product) and value.name in apis.LISTS_FILES:
        return f"what {value.name} gives"
    if isinstance(value, Product) and value.name in ("numpy.array", "numpy.asarray") and _holds_objects(value):
        return "an array of Python objects"
    if isinstance(value, Derived):
        origin = value.origin
        picked = all(step.via in ("[]", ".get()", ".values()", ".items()") for step in value.chain())
        if isinstance(origin, Product) and origin.name in apis.LISTS_FILES and picked:
            return None if _may_be_array(program, item) else f"what {origin.name} gives"
        return None if _are_labels(item) else _LISTING_METHODS.get(value.via)
    if isinstance(value, Collection) and value.each is None and value.kind in ("list", "dict", "set"):
        return _filled_container(program, value)
    if isinstance(value, Collection) and value.each is not None and value.kind in ("list", "dict", "set"):
        if (
            _all_plain(value.each)
            or _counts(value.node)
            or loops_over_few(program, value.node, value.frame)
            or _converts_few(program, value)
        ):
            return None
        return f"a {value.kind} of Python objects"
    return None


def _may_be_array(program: Program, item: Item) -> bool:
    """Whether what is stored may be an array instead, into which the parts were put before: `self.data[mask]`."""
    stored = program.evaluator.written(item.write, item.frame)
    origins = [value.origin if isinstance(value, Derived) else value for value in stored]
    return any(map(_is_of_arrays, origins))


def _are_labels(item: Item) -> bool:
    """`np.array(self.targets)[mask].tolist()`: small numbers, which all lists share."""
    value = item.value
    if not isinstance(value, Derived) or value.via != ".tolist()" or item.attribute.lower() not in _LABELS:
        return False
    return _is_of_arrays(value.origin)


def _is_of_arrays(value: Value) -> bool:
    return isinstance(value, Product) and value.name.partition(".")[0] in ("numpy", "torch")


def _counts(node: ast.AST) -> bool:
    """`[int(line) for line in file]`: numbers, most of them small ones, which all lists share."""
    made = node.value if isinstance(node, ast.DictComp) else getattr(node, "elt", None)
    return isinstance(made, ast.Call) and isinstance(made.func, ast.Name) and made.func.id in ("int", "bool", "len")


def _converts_few(program: Program, value: Collection) -> bool:
    """`list(self.CLASSES)` of a handful of spelled-out names."""
    node = value.node
    if not isinstance(node, ast.Call) or not node.args:
        return False
    found = program.evaluator.values(node.args[0], value.frame)
    return all(isinstance(v, Collection) and v.each is None and not filled_later(v) for v in found)


def _filled_container(program: Program, value: Collection) -> str | None:
    """A list that a loop fills through its name."""
    for binding in filled_later(value):
        loop = loop_around(binding.node)
        if loop is None or loops_over_few(program, loop, value.frame):
            continue
        found = program.evaluator.bound(binding, value.frame)
        if not _all_plain(found) and any(_is_object(inner) for inner in found):
            return f"a {value.kind} of Python objects"
    return None


def _is_object(value: Value) -> bool:
    if _is_of_arrays(value):
        return False
    return isinstance(value, (Collection, Const, Derived)) or (isinstance(value, Product) and value.name in _OBJECTS)


def _holds_objects(value: Product) -> bool:
    dtypes = [k.value for k in value.node.keywords if k.arg == "dtype"]
    return any(getattr(d, "id", getattr(d, "value", "")) == "object" for d in dtypes)


_LISTING_METHODS = {
    ".readlines()": "a list of lines",
    ".splitlines()": "a list of lines",
    ".to_dict()": "a dict of Python objects",
    ".tolist()": "a list of Python objects",
    ".split()": "a list of strings",
    ".namelist()": "a list of names",
    ".getmembers()": "a list of members",
}


def _element_container(program: Program, item: Item) -> str | None:
    loop = loop_around(item.write.node)
    if loop is None or loops_over_few(program, loop, item.frame):
        return None
    value = item.value
    if isinstance(value, Unknown) or _all_plain((value,)) or handle_of(program, value) is not None:
        return None
    if _is_of_arrays(value):
        return None
    if isinstance(value, (Collection, Const, Derived, Instance)) or (
        isinstance(value, Product) and value.name in _OBJECTS
    ):
        return "a container of Python objects"
    return None


_OBJECTS = frozenset(
    [
        *("os.path.join", "os.path.abspath", "str", "builtins.str", "pathlib.Path", "os.path.basename"),
        *(f"{package}.loads" for package in ("json", "orjson", "ujson", "pickle")),
        *("json.load", "yaml.safe_load", "ast.literal_eval"),
    ]
)
"""Calls that give texts, or what was parsed: dicts and lists."""


def _all_plain(values: Values) -> bool:
    """Whether all elements are numbers or arrays, which share their pages well enough or are few."""
    return bool(values) and all(_is_plain(value) for value in values)


def _is_plain(value: Value) -> bool:
    if isinstance(value, Number):
        return True
    if isinstance(value, Const):
        return value.value is None or isinstance(value.value, (int, float, bool))
    if isinstance(value, Product):
        return value.name.partition(".")[0] in ("numpy", "torch") and value.name not in apis.LISTS_FILES
    return isinstance(value, Instance)


_LABELS = frozenset({"label", "labels", "target", "targets", "class_ids", "y"})
_NAMES_OF_CLASSES = frozenset(
    ("classes", "class_names", "categories", "class_to_idx", "idx_to_class", "id2label", "label2id", "label_map")
)
"""Attributes that have one entry for each class, by what they are called everywhere."""
