"""Keys that stand for one item each, and whether what is kept under them is worth speaking of."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code.handles import memmaps
from dllint.code.handles import opened as handles
from dllint.code.language.parameters import passed
from dllint.code.language.scopes import dotted
from dllint.code.language.values import Const, Number, Product, Value, Values
from dllint.code.tensors import counting as tensors
from dllint.code.workers import eager
from dllint.code.workers.reach import Step

if TYPE_CHECKING:
    from dllint.code.facts import WorkerEntry
    from dllint.code.program import Program

_DEEPEST = 6
_FILE_WORDS = frozenset({"path", "file", "fname", "img", "image", "uri", "url", "clip", "wav"})
"""Parts of the names of what is a file of its own for each sample."""
_SAMPLE_WORDS = _FILE_WORDS | {"name", "key", "id", "sample", "video", "entr", "record"}
"""Parts of the names of lists that have one entry for each sample."""
_GROUP_WORDS = frozenset(
    (
        *("label", "class", "classes", "category", "categories", "type", "kind", "split", "mode", "group", "domain"),
        *("lang", "language", "speaker", "subset", "dataset", "modality", "sensor", "species", "genre", "fold"),
        *("phase", "task", "profile"),
    )
)
"""Words in the names of what many samples have in common: `class_names[i]`, `record["image_type"]`."""


def is_kept_for_each(entry: WorkerEntry, key: ast.expr, step: Step, values: Values) -> bool:
    """Whether a key stands for one item, and what is kept under it is no trifle: a number, a path, a handle, a map."""
    program = entry.program
    if all(map(is_small, values)) or any(_is_cheap(program, value) for value in values):
        return False
    if entry.variation.is_index(key, step):
        return True
    if entry.variation.of(key, step) is not True:
        return False
    return _is_entry(entry, key, step) or (_is_file(key, step) and any(_is_content(program, v) for v in values))


def is_small(value: Value) -> bool:
    """Whether a value is a number, a constant or a path."""
    return isinstance(value, (Const, Number)) or (isinstance(value, Product) and value.name.startswith("os.path."))


def _is_cheap(program: Program, value: Value) -> bool:
    return handles.handle_of(program, value) is not None or memmaps.mapped_array(program, value) is not None


def _is_content(program: Program, value: Value) -> bool:
    return tensors.maker(value) is not None or _is_read(program, value)


def _is_read(program: Program, value: Value) -> bool:
    read = eager.contents_read(program, value)
    return read is not None and not read.parsed


def _is_entry(entry: WorkerEntry, key: ast.expr, step: Step) -> bool:
    """Whether a key is an entry, as a whole, of a list that by its name has one for each sample."""
    node, home = _source(key, step)
    if not isinstance(node, ast.Subscript) or not entry.variation.is_index(node.slice, home):
        return False
    return _speaks_of(dotted(node.value).rpartition(".")[2], _SAMPLE_WORDS)


def _is_file(key: ast.expr, step: Step) -> bool:
    """Whether a key is a file by its name: a variable `img_path`, a field `record["path"]`."""
    node, _ = _source(key, step)
    names = [getattr(part, "id", getattr(part, "attr", "")) for part in (key, node)]
    names += [str(node.slice.value)] if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) else []
    return any(_speaks_of(name, _FILE_WORDS) for name in names)


def _speaks_of(name: str, words: frozenset[str]) -> bool:
    name = name.lower()
    own = {part.removesuffix("s") for part in name.split("_")} | set(name.split("_"))
    return any(word in name for word in words) and own.isdisjoint(_GROUP_WORDS)


def _source(key: ast.expr, step: Step) -> tuple[ast.expr, Step]:
    """What a name stands for: what it is assigned, or what the function is given for it."""
    for _ in range(_DEEPEST):
        bindings = step.scope.index().bindings.get(key.id, ()) if isinstance(key, ast.Name) else ()
        if len(bindings) != 1:
            break
        binding = bindings[0]
        if binding.kind == "assign" and isinstance(binding.value, ast.expr):
            key = binding.value
        elif binding.kind == "parameter" and step.parent is not None and isinstance(step.call, ast.Call):
            given = passed(binding.name, step.scope, step.call)[0]
            if given is None:
                break
            key, step = given, step.parent
        else:
            break
    return key, step
