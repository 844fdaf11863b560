"""Attributes of a dataset that hold the contents of its samples, read when it is made."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language.containers import filled_later
from dllint.code.language.links import parent, scope_of
from dllint.code.language.loops import are_few, around, loop_around, loops_over_few
from dllint.code.language.scopes import last_name
from dllint.code.language.values import (
    Collection,
    Derived,
    External,
    Frame,
    Function,
    Instance,
    Product,
    Value,
    Values,
)
from dllint.code.workers.state import Item
from dllint.records import dataclass, replace

if TYPE_CHECKING:
    from dllint.code.program import Program

TABLES = frozenset({"numpy.loadtxt", "numpy.genfromtxt"})
"""Calls that read a table of text."""
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)
_REDUCERS = frozenset(
    (
        "len",
        "sum",
        "max",
        "min",
        "mean",
        "int",
        "float",
        "str",
        "bool",
        "std",
        "unique",
        "any",
        "all",
        "shape",
        "sorted",
        "amax",
        "amin",
        "argmax",
        "argmin",
        "average",
        "bincount",
        "count_nonzero",
        "histogram",
        "median",
        "nanmax",
        "nanmean",
        "nanmin",
        "nanstd",
        "ndim",
        "nunique",
        "percentile",
        "prod",
        "ptp",
        "quantile",
        "size",
        "var",
    )
)
"""Functions that leave a summary of what they are given."""


@dataclass(frozen=True, slots=True)
class Read:
    """A call that reads the contents of one file."""

    call: str
    node: ast.AST
    frame: Frame
    part: str = ""
    """The key of what is taken out of it, if that is all that is kept."""
    parsed: bool = False
    """Whether it gives objects that may be arrays or records: what workers do with them tells."""


def read_of(program: Program, item: Item) -> Read | None:
    """The call by which an attribute comes to hold the contents of one file after the other."""
    if item.write.element:
        loop = loop_around(item.write.node)
        if loop is None or loops_over_few(program, loop, item.frame):
            return None
        return _in_each_turn(contents_read(program, item.value) or _bytes(item.write.binding.value, item.frame), loop)
    if isinstance(item.value, Collection) and not _is_parameter(item.write.binding.value, item.frame):
        return _read_into(program, item.value)
    return None


def _is_parameter(node: ast.AST | None, frame: Frame) -> bool:
    """Whether an attribute just keeps what the caller passes."""
    bindings = frame.scope.index().bindings.get(node.id, ()) if isinstance(node, ast.Name) else ()
    return any(binding.kind == "parameter" for binding in bindings)


def _in_each_turn(read: Read | None, loop: ast.AST) -> Read | None:
    """`read`, if it is made anew in each turn of a loop: in its body, or in a function that this calls."""
    if read is None:
        return None
    home, scope = scope_of(read.node), scope_of(loop)
    if home is scope:
        return read if _is_within(read.node, loop) else None
    loops = (loop, *around(loop))
    return read if any(_is_within(made, each) for made in _entered_by(read.frame) for each in loops) else None


def _is_within(node: ast.AST | None, loop: ast.AST) -> bool:
    while node is not None and node is not loop:
        node = parent(node)
    return node is loop


def _entered_by(frame: Frame | None) -> Iterator[ast.AST]:
    """The calls that lead to where a file is read, and those that made the objects that read it."""
    seen: set[int] = set()
    pending = [frame]
    while pending:
        at = pending.pop()
        if at is None or id(at) in seen:
            continue
        seen.add(id(at))
        if at.call is not None:
            yield at.call
        pending += [at.caller, at.outer]
        if isinstance(at.receiver, Instance) and at.receiver.node is not None:
            yield at.receiver.node
            pending.append(at.receiver.frame)


def _read_into(program: Program, value: Collection) -> Read | None:
    """The reading call behind the elements of a list that a comprehension, a loop or a pool makes."""
    if value.kind == "generator":
        return None
    if value.each is not None:
        if isinstance(value.node, _COMPREHENSIONS) and loops_over_few(program, value.node, value.frame):
            return None
        found = next((r for inner in value.each if (r := contents_read(program, inner)) is not None), None)
        if isinstance(value.node, _COMPREHENSIONS):
            element = value.node.value if isinstance(value.node, ast.DictComp) else value.node.elt
            return _in_each_turn(found or _bytes(element, value.frame), value.node)
        if found is not None and not (_maps(value) or _is_repeated(found)):
            return None
        return None if _maps_few(program, value) else found or _mapped(program, value)
    for binding in filled_later(value):
        loop = loop_around(binding.node)
        if loop is None or loops_over_few(program, loop, value.frame):
            continue
        reads = [contents_read(program, inner) for inner in program.evaluator.bound(binding, value.frame)]
        for read in (*reads, _bytes(binding.value, value.frame)):
            found = _in_each_turn(read, loop)
            if found is not None:
                return found
    return None


def _bytes(node: ast.AST | None, frame: Frame) -> Read | None:
    """`path.read_bytes()`, whatever is known of the path."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "read_bytes":
        return Read("read_bytes", node, frame)
    return None


def _is_repeated(read: Read) -> bool:
    """Whether a loop or a comprehension reads one file after the other."""
    return any(True for node in (read.node, *_entered_by(read.frame)) for _ in around(node))


def _maps(value: Collection) -> ast.Call | None:
    """The call of `map` that a list is made of: `list(map(read, paths))`."""
    source = value.node.args[0] if isinstance(value.node, ast.Call) and value.node.args else None
    return source if isinstance(source, ast.Call) and last_name(source) == "map" and len(source.args) > 1 else None


def _maps_few(program: Program, value: Collection) -> bool:
    """`list(map(read, ("train.npy", "test.npy")))`."""
    source = _maps(value)
    return source is not None and are_few(program, source.args[1], value.frame)


def _mapped(program: Program, value: Collection) -> Read | None:
    """`list(pool.imap(read, paths))`, `Parallel(...)(delayed(read)(path) for path in paths)`."""
    for inner in value.each or ():
        for step in inner.chain() if isinstance(inner, Derived) else ():
            found = _by_function(program, step)
            if found is not None:
                return found
    return None


def _by_function(program: Program, step: Derived) -> Read | None:
    if not isinstance(step.node, ast.Call) or not step.node.args:
        return None
    function: ast.expr = step.node.args[0]
    if step.via == "()" and isinstance(function, (ast.GeneratorExp, ast.ListComp)):  # joblib
        inner = function.elt.func if isinstance(function.elt, ast.Call) else None
        if not isinstance(inner, ast.Call) or not inner.args:
            return None
        function = inner.args[0]
    elif step.via not in (".map()", ".imap()", ".imap_unordered()", ".starmap()"):
        return None
    for target in program.evaluator.values(function, step.frame):
        if isinstance(target, External) and target.name in apis.DECODES - apis.LAZY_READS:
            return Read(target.name, step.node, step.frame)
        if isinstance(target, Function):
            for result in program.evaluator.returned(target, None, step.frame):
                found = contents_read(program, result)
                if found is not None:
                    return found
    return None


def contents_read(program: Program, value: Value, depth: int = 0, *, converted: bool = False) -> Read | None:
    """The reading call whose result a value holds in memory. `converted`: as an argument of what turns it into data."""
    if depth > 5:
        return None
    if isinstance(value, Product):
        if value.name in apis.DECODES:
            if value.name in apis.LAZY_READS and not converted:
                return None
            return None if _is_mapped(value) else Read(value.name, value.node, value.frame)
        if value.name in apis.PARSES:  # records as a rule; contents where they become arrays
            if converted or value.name in apis.PARSES_BINARY:
                return Read(value.name, value.node, value.frame, parsed=not converted)
            return None
        return _within_call(program, value.node, value.frame, depth, converted=apis.transforms_data(value.name))
    if isinstance(value, Derived):
        return _derived_contents(program, value, depth, converted)
    if isinstance(value, Collection) and value.kind != "generator":
        return _within_collection(program, value, depth)
    return None


def _within_collection(program: Program, value: Collection, depth: int) -> Read | None:
    parts: list[Values] = [value.each] if value.each is not None else []
    parts += [program.evaluator.values(item, value.frame) for item in value.items[:8]]
    for values in parts:
        for inner in values:
            found = contents_read(program, inner, depth + 1)
            if found is not None:
                return found
    return None


_ALL_OF_IT = frozenset({".data", ".values", ".T", ".array"}) | apis.GIVES_DATA
_DATA_KEYWORDS = frozenset({"audio", "image", "images", "samples"})
"""Keywords by which transforms of albumentations, imgaug and audiomentations, and processors, get their data."""
_METADATA = frozenset(
    {
        *(f".{name}()" for name in _REDUCERS),
        ".shape",
        ".size",
        ".dtype",
        ".ndim",
        ".header",
        ".info",
        ".mode",
        ".keys()",
        ".item()",
        "each",
        ".get_fps()",
        ".__len__()",
        ".affine",
        ".info()",
    }
)
"""Steps after which no more than a summary is left of the contents."""


def _derived_contents(program: Program, value: Derived, depth: int, converted: bool) -> Read | None:
    steps = list(value.chain())
    for position, step in enumerate(steps):
        if step.via == ".read_bytes()":
            kept = not any(_leaves_little(later) for later in steps[:position])
            return Read("read_bytes", step.node, step.frame) if kept else None
        if step.via == "()" and _is_transform(step):
            if any(_leaves_little(later) for later in steps[:position]) or not isinstance(step.node, ast.Call):
                return None
            return _within_call(program, step.node, step.frame, depth, converted=True)
    if any(_leaves_little(step) for step in steps):
        return None
    origin = value.origin
    reads = any(step.via in (".read()", ".read_bytes()", ".read_text()") for step in steps)
    if isinstance(origin, Product) and origin.name in ("builtins.open", "pathlib.Path") and reads:
        is_text = any(step.via == ".read_text()" for step in steps)
        return Read("read_text" if is_text else origin.name.removeprefix("builtins."), origin.node, origin.frame)
    if isinstance(origin, Product) and origin.name in apis.LAZY_READS:
        forced = any(step.via[1:-2] in apis.FORCES_CONTENTS for step in steps if step.via.endswith("()"))
        whole = any(step.via == "[]" and is_whole(step.node) for step in steps)
        computed = any(step.via == "op" for step in steps)
        decoded = converted and origin.name != "h5py.File"
        if origin.name == "builtins.open" or not (forced or whole or computed or decoded):
            return None
        return Read(origin.name, origin.node, origin.frame)
    found = contents_read(program, origin, depth + 1, converted=converted)
    part = _part(steps)
    return replace(found, part=part) if found is not None and part else found


def _part(steps: list[Derived]) -> str:
    """The first key by which something is taken out of what is read: `np.load(path)["poses"]`."""
    keys = (step.node.slice for step in reversed(steps) if isinstance(step.node, ast.Subscript))
    key = next(keys, None)
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""


def _leaves_little(step: Derived) -> bool:
    return step.via in _METADATA or _is_field(step.via)


def _is_field(via: str) -> bool:
    """`.encoding`: a field of what was read, not all of it."""
    return via.startswith(".") and not via.endswith("()") and via not in _ALL_OF_IT


def _is_transform(step: Derived) -> bool:
    """Whether a transform of a library is called: an object that was made before."""
    made = step.base.origin if isinstance(step.base, Derived) else step.base
    return isinstance(made, Product) and apis.transforms_data(made.name)


def is_whole(node: ast.AST) -> bool:
    """`[:]`, `[...]` and `[()]` of an HDF5 data set bring all of it into memory."""
    if not isinstance(node, ast.Subscript):
        return False
    key = node.slice
    if isinstance(key, ast.Slice):
        return key.lower is None and key.upper is None
    return (isinstance(key, ast.Tuple) and not key.elts) or (isinstance(key, ast.Constant) and key.value is Ellipsis)


def _within_call(program: Program, call: ast.Call, frame: Frame, depth: int, *, converted: bool = False) -> Read | None:
    """`torch.from_numpy(np.load(path))`: a conversion of what is read keeps the contents."""
    if not converted and (not isinstance(call.func, (ast.Name, ast.Attribute)) or last_name(call.func) in _REDUCERS):
        return None
    converted = converted or _is_conversion(call)
    for argument in (*call.args[:2], *(k.value for k in call.keywords if k.arg in _DATA_KEYWORDS)):
        if isinstance(argument, (ast.Call, ast.Name, ast.Subscript, ast.Attribute, ast.BinOp)):
            for value in program.evaluator.values(argument, frame):
                found = contents_read(program, value, depth + 1, converted=converted)
                if found is not None and found.call != "builtins.open":
                    return found
    return None


def _is_conversion(call: ast.Call) -> bool:
    """`np.array(image)`, `to_tensor(image)`: what reads the pixels of an image that was only opened."""
    name = last_name(call.func).lower()
    return name in ("array", "asarray", "stack", "tensor", "as_tensor") or "tensor" in name


def _is_mapped(value: Product) -> bool:
    for keyword in value.node.keywords:
        is_none = isinstance(keyword.value, ast.Constant) and keyword.value.value is None
        if keyword.arg in ("mmap_mode", "mmap") and not is_none:
            return True
    return False
