"""What is in a value: its items, and what a loop over it meets."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from dllint.code.language import classes
from dllint.code.language.bindings import Binding
from dllint.code.language.containers import filled_later, is_just_under, stored_elsewhere, stored_under, updated_by
from dllint.code.language.links import scope_of
from dllint.code.language.scopes import dotted, last_name
from dllint.code.language.values import (
    UNKNOWN,
    UNKNOWNS,
    ClassRef,
    Collection,
    Const,
    Derived,
    External,
    Frame,
    Instance,
    Number,
    Product,
    Unknown,
    Value,
    Values,
    derived,
    merge,
)

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator

_PASS_ELEMENTS = frozenset(
    {
        "builtins.enumerate",
        "builtins.reversed",
        "builtins.sorted",
        "builtins.iter",
        "builtins.list",
        "builtins.tuple",
        "tqdm.tqdm",
        "tqdm.auto.tqdm",
        "builtins.zip",
        "itertools.islice",
        "rich.progress.track",
        "tqdm.notebook.tqdm",
    }
)
"""Calls that pass on the elements of what they are given."""
_PASS_ON = _PASS_ELEMENTS - {"builtins.enumerate", "builtins.zip"}
"""Of these, calls that pass them on as they are."""

_CHOOSES = (ast.Name, ast.Attribute, ast.BoolOp, ast.IfExp, ast.Call)
"""Expressions of keys that say which of several things is taken: `TABLE[mode or "train"]`."""
_MOST_YIELDS = 4
"""Places of a generator function that yield, and are looked at."""


def item(ev: Evaluator, value: Value, index: int | str | None, node: ast.AST, frame: Frame) -> Values:
    """`value[index]`; any element where the index is not known."""
    if isinstance(value, Collection):
        if isinstance(index, str):
            return _after_functions(ev, value, index, _under_key(ev, value, index, node, frame), node, frame)
        if value.each is not None:
            return value.each
        counts = isinstance(index, int) and value.kind in ("list", "tuple")
        if isinstance(index, int) and counts and -len(value.items) <= index < len(value.items):
            return ev.infer(value.items[index], value.frame)
        return merge(contents(ev, value)) or UNKNOWNS
    if isinstance(index, str) and getattr(getattr(node, "value", None), "attr", "") == "hparams":
        return ev.attribute(value, index, node, frame)  # of Lightning: a mapping of the arguments by their names
    if isinstance(value, (Product, Derived)):
        return (derived(value, "[]", node, frame, index),)
    return UNKNOWNS


def contents(ev: Evaluator, value: Collection, most: int = 12) -> list[Values]:
    """What a container holds: what the source spells out, and what is put into it afterwards."""
    found = [value.each] if value.each is not None else []
    keys = value.keys or ("",) * len(value.items)
    found += [
        spread(ev, part, value.frame) if key is None else _spelled_out(ev, part, value.frame)
        for part, key in zip(value.items[:most], keys, strict=False)
    ]
    return found + _put_in(ev, value, filled_later(value)[:most])


def spread(ev: Evaluator, part: ast.expr, frame: Frame) -> Values:
    """What `**part` puts into a dict under any key."""
    found = ev.infer(part, frame)
    return merge(
        _once(ev, part, lambda: [values for value in found for values in _under_any_key(ev, value, part, frame)])
    )


def _under_any_key(ev: Evaluator, value: Value, part: ast.expr, frame: Frame) -> list[Values]:
    if isinstance(value, Collection) and value.kind == "dict":
        return contents(ev, value)
    return [(taken_out(value, part, frame),)]


_TAKEN_OUT = frozenset({"numpy.load", "shelve.open", "zarr.ZipStore", "zarr.storage.ZipStore"})
"""Mappings that read what is under a key anew each time: a dict of them has all of it, and no handle."""


def taken_out(value: Value, node: ast.expr, frame: Frame) -> Value:
    """What a dict of something is: of an open archive, all that is in it; else as good as what is given."""
    if isinstance(value, Product) and value.name in _TAKEN_OUT:
        return derived(value, ".dict()", node, frame)
    return value


def _spelled_out(ev: Evaluator, part: ast.expr, frame: Frame) -> Values:
    """What one part of a display is; of `*parts` any of them."""
    if not isinstance(part, ast.Starred):
        return ev.infer(part, frame)
    listed = part.value
    return merge(_once(ev, part, lambda: [elements(ev, listed, ev.infer(listed, frame), frame)]))


def _put_in(ev: Evaluator, value: Collection, bindings: list[Binding]) -> list[Values]:
    """What these bindings put into a container."""
    return _once(ev, value.node, lambda: [ev.bound(binding, value.frame) for binding in bindings])


def _once(ev: Evaluator, node: ast.AST, ask: Callable[[], list[Values]]) -> list[Values]:
    """The answer of `ask`; nothing while that is asked, as of lists that extend each other: `rows = [*rows, row]`."""
    if id(node) in ev.filling:
        return []
    ev.filling.add(id(node))
    try:
        return ask()
    finally:
        ev.filling.discard(id(node))


def _under_key(ev: Evaluator, value: Collection, key: str, use: ast.AST, frame: Frame) -> Values:
    """What a dict can have under a constant key: by its display, and by what is stored under it afterwards."""
    later = stored_under(value, key)
    last = _last_before(ev, value, key, later, use, frame)
    spelled = _spelled_under(ev, value, key) if last is None else None
    found = [spelled] if spelled is not None else []
    later = later if last is None else later[later.index(last) :]
    found += _put_in(ev, value, [one for one in later if spelled is None or not _is_default(one)])
    stored = stored_elsewhere(ev.program, value, key)
    found += _once(ev, value.node, lambda: [ev.bound(binding, Frame(scope)) for binding, scope in stored])
    return merge(found) or (value.each if value.each is not None else UNKNOWNS)


def _last_before(
    ev: Evaluator, value: Collection, key: str, later: list[Binding], use: ast.AST, frame: Frame
) -> Binding | None:
    """The last that is certainly stored under a key before a use, so that nothing is left of what was there."""
    just = [binding for binding in later if is_just_under(binding, key)]
    if not just or updated_by(value):
        return None
    from dllint.code.language.run_before import Way, is_passed  # which asks for values itself

    left = Way(ev, use, frame).left_of(scope_of(value.node))
    passed = (each for each in reversed(just) if left and all(is_passed(each.node, one) for one in left))
    return next(passed, None)


def _after_functions(ev: Evaluator, value: Collection, key: str, found: Values, node: ast.AST, frame: Frame) -> Values:
    """What stands under a key, unless a function that the dict is handed to before puts something else in the place of
    plain constants."""
    from dllint.code.language.handed_dicts import changes_by_functions  # which asks for values itself

    if value.kind != "dict" or not all(isinstance(each, (Const, Number)) for each in found):
        return found
    changes = changes_by_functions(ev, value, node, frame)
    return UNKNOWNS if any(change.name in (None, key) for change, _ in changes) else found


def _spelled_under(ev: Evaluator, value: Collection, key: str) -> Values | None:
    """What the display of a dict has under a key, or a dict that it takes in, `{"size": 3, **options}`: the last that
    certainly has it, and those behind that may."""
    found: list[Values] = []
    for name, part, always in reversed(_pairs(value)):
        if name is None:
            taken_in = ev.infer(part, value.frame)
            found += _of_each(ev, taken_in, key, part, value.frame)
            if always and taken_in and all(_surely_has(v, key) for v in taken_in):
                break
        elif name == key or (isinstance(name, ast.Constant) and name.value == key):
            found.append(ev.infer(part, value.frame))
            break
    return merge(reversed(found)) if found else None


def _pairs(value: Collection) -> list[tuple[ast.expr | str | None, ast.expr, bool]]:
    """The keys and expressions of a dict, and without a key the other dicts that it takes in, at once or later; each
    with whether it always counts."""
    spelled = [(key, part, True) for key, part in zip(value.keys, value.items, strict=False)]
    return spelled + [(None, part, always) for part, always in updated_by(value)]


def _of_each(ev: Evaluator, found: Values, key: str, part: ast.expr, frame: Frame) -> list[Values]:
    """What any of several mappings may have under a key."""
    having = [value for value in found if not is_without(value, key)]
    return _once(ev, part, lambda: [_or_overridden(item(ev, value, key, part, frame)) for value in having])


def _or_overridden(found: Values) -> Values:
    return (Unknown(overrides=True),) if found == UNKNOWNS else found


def _surely_has(value: Value, key: str) -> bool:
    return isinstance(value, Collection) and under_key(value, key) is not None


def _is_default(binding: Binding) -> bool:
    """`options.setdefault("key", value)`, `if "key" not in options: options["key"] = value`: nothing where there is
    something under the key."""
    if isinstance(binding.node, ast.Call):
        return last_name(binding.node) == "setdefault"
    test = binding.block.owner.test if isinstance(binding.block.owner, ast.If) else None
    asks = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.NotIn) and binding.block.branch == "body"
    targets = binding.node.targets if isinstance(binding.node, ast.Assign) else ()
    subscripts = (target for target in targets if isinstance(target, ast.Subscript))
    return (
        asks
        and isinstance(test, ast.Compare)
        and any(
            ast.dump(one.slice) == ast.dump(test.left) and dotted(one.value) == dotted(test.comparators[0])
            for one in subscripts
        )
    )


def elements(ev: Evaluator, node: ast.AST, found: Values, frame: Frame) -> Values:
    """What a loop over these values meets."""
    groups: list[Values] = []
    for value in found:
        if isinstance(value, Collection) and value.kind == "dict":
            groups.append(UNKNOWNS)
        elif isinstance(value, Collection):
            groups.append(_yielded(ev, value) or item(ev, value, None, node, frame))
        elif isinstance(value, Derived) and value.via == ".values()" and isinstance(value.base, Collection):
            groups.append(item(ev, value.base, None, node, frame))
        elif isinstance(value, Product) and value.name in _PASS_ELEMENTS and value.node.args:
            inner = value.node.args[-1 if value.name == "builtins.zip" else 0]
            groups.append(elements(ev, inner, ev.infer(inner, value.frame), value.frame))
        elif isinstance(value, Product) and value.name == "builtins.range":
            groups.append((Number(0, None, node),))
        elif isinstance(value, (Product, Derived)) or _is_iterated_by_library(ev, value):
            groups.append((derived(value, "each", node, frame),))
        else:
            groups.append(UNKNOWNS)
    return merge(groups)


def _yielded(ev: Evaluator, value: Collection) -> Values:
    """What a generator function of the project passes on of what it goes through; nothing for other collections."""
    if not isinstance(value.node, ast.FunctionDef) or id(value.node) in ev.filling:
        return ()
    ev.filling.add(id(value.node))
    try:
        found = merge(_yielded_at(ev, node, value.frame) for node in value.frame.scope.index().yields[:_MOST_YIELDS])
    finally:
        ev.filling.discard(id(value.node))
    return merge((each if _is_passed_on(each) else UNKNOWN,) for each in found)


def _is_passed_on(value: Value) -> bool:
    """Whether a value is of what is gone through, as it is or with a number: what is made anew is no concern here."""
    return isinstance(value, Derived) or (isinstance(value, Collection) and value.kind == "tuple")


def _yielded_at(ev: Evaluator, node: ast.Yield | ast.YieldFrom, frame: Frame) -> Values:
    found = ev.infer(node.value, frame) if node.value is not None else UNKNOWNS
    return elements(ev, node, found, frame) if isinstance(node, ast.YieldFrom) else found


def _is_iterated_by_library(ev: Evaluator, value: Value) -> bool:
    """Whether a loop over an object runs the `__iter__` of its library's base class: that of a loader, say."""
    if not isinstance(value, Instance) or any(classes.method(ev, value.cls, m) for m in ("__iter__", "__getitem__")):
        return False
    return any(base != "?" for base in classes.external_bases(ev, value.cls))


def parts(ev: Evaluator, node: ast.AST, found: Values, index: int, frame: Frame) -> Values:
    """The `index`th part of what a loop over these values meets: knows enumerate, zip and items."""
    groups: list[Values] = []
    for value in found:
        if isinstance(value, Product) and value.name in _PASS_ON and value.node.args:
            inner = value.node.args[0]
            groups.append(parts(ev, inner, ev.infer(inner, value.frame), index, value.frame))
        elif isinstance(value, Product) and value.name == "builtins.enumerate" and value.node.args:
            inner = value.node.args[0]
            if index == 0:
                groups.append((Number(0, None, node),))
            else:
                groups.append(elements(ev, inner, ev.infer(inner, value.frame), value.frame))
        elif isinstance(value, Product) and value.name == "builtins.zip" and index < len(value.node.args):
            inner = value.node.args[index]
            groups.append(elements(ev, inner, ev.infer(inner, value.frame), value.frame))
        elif isinstance(value, Collection) and isinstance(value.node, ast.FunctionDef):
            pairs = _yielded(ev, value)
            groups += [item(ev, pair, index, node, frame) for pair in pairs] or [UNKNOWNS]
        elif isinstance(value, Collection) and value.each is None and value.kind != "dict":
            spelled = [ev.infer(part, value.frame) for part in value.items[:12]]
            groups += [item(ev, part, index, node, frame) for values in spelled for part in values]
        elif isinstance(value, Derived) and value.via == ".items()" and isinstance(value.base, Collection):
            groups.append(item(ev, value.base, None, node, frame) if index == 1 else UNKNOWNS)
        elif isinstance(value, (Product, Derived)) or _is_iterated_by_library(ev, value):
            groups.append((derived(derived(value, "each", node, frame), "[]", node, frame, index),))
        else:
            groups.append(UNKNOWNS)
    return merge(groups)


def subscript(ev: Evaluator, node: ast.Subscript, frame: Frame) -> Values:
    """What `value[index]` gives."""
    index = node.slice
    literal = index.value if isinstance(index, ast.Constant) and isinstance(index.value, (int, str)) else None
    if isinstance(index, ast.UnaryOp) and isinstance(index.operand, ast.Constant):
        negative = index.operand.value
        literal = -negative if isinstance(negative, int) and isinstance(index.op, ast.USub) else None
    groups: list[Values] = []
    for value in ev.infer(node.value, frame):
        if isinstance(index, ast.Slice) and isinstance(value, Collection):
            groups.append((Collection(value.kind, node, frame, each=item(ev, value, None, node, frame)),))
        elif isinstance(value, Instance):
            groups.append(ev.call_method(value, "__getitem__", node, frame))
        elif isinstance(value, External):
            groups.append((value,))  # a generic alias: Dataset[int]
        elif isinstance(value, ClassRef):
            groups.append((value,))
        elif literal is None and isinstance(value, Collection):
            groups.append(under_key_of(ev, value, index, node, frame))
        else:
            groups.append(item(ev, value, literal, node, frame))
    if isinstance(node.value, ast.Attribute):
        groups += classes.element_writes(ev, node.value, frame)
    return merge(groups)


def under_key_of(ev: Evaluator, value: Collection, key: ast.expr, node: ast.AST, frame: Frame) -> Values:
    """`SETS[name]`: what stands under the texts that the key is known to be; else any element."""
    if value.kind != "dict":
        return _at_index_of(ev, value, key, node, frame)
    is_asked = isinstance(key, _CHOOSES) and (not value.keys or any(map(_is_text, value.keys)))
    keys = ev.infer(key, frame) if is_asked else ()
    texts = [k.value for k in keys if isinstance(k, Const) and isinstance(k.value, str)]
    if not texts or len(texts) < len(keys) or not all(_has_key(value, text) for text in texts):
        return item(ev, value, None, node, frame)
    return merge(item(ev, value, text, node, frame) for text in texts)


def _at_index_of(ev: Evaluator, value: Collection, index: ast.expr, node: ast.AST, frame: Frame) -> Values:
    """`(one, other)[flag]`: what stands at the places that the index is known to be; else any element."""
    known = ev.infer(index, frame) if value.each is None and value.kind in ("list", "tuple") else ()
    places = [int(k.value) for k in known if isinstance(k, Const) and isinstance(k.value, int)]
    if not places or len(places) < len(known):
        return item(ev, value, None, node, frame)
    return merge(item(ev, value, place, node, frame) for place in places)


def _has_key(value: Collection, key: str) -> bool:
    return under_key(value, key) is not None or bool(stored_under(value, key))


def is_without(value: Value, name: str) -> bool:
    """Whether it is a dict that certainly has nothing under a key: all keys are known, and nothing is added later."""
    if not isinstance(value, Collection) or value.kind != "dict" or value.each is not None:
        return False
    if filled_later(value) or updated_by(value):
        return False
    keys = [key.value if isinstance(key, ast.Constant) else key for key in value.keys]
    return all(isinstance(key, str) and key != name for key in keys)


def _is_text(key: ast.expr | str | None) -> bool:
    return isinstance(key, str) or (isinstance(key, ast.Constant) and isinstance(key.value, str))


def under_key(value: Collection, key: str) -> ast.expr | None:
    """The expression under a constant key of a dict."""
    for name, element in zip(value.keys, value.items, strict=False):
        if name == key or (isinstance(name, ast.Constant) and name.value == key):
            return element
    return None
