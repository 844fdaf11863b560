"""The files that a config of OpenMMLab is merged onto: `_base_ = ["../_base_/datasets/coco.py", "./runtime.py"]`."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language.modules import Module
from dllint.code.language.values import Collection, Const, Frame, Value, Values

if TYPE_CHECKING:
    from dllint.code.program import Program

_BASE = "_base_"
_DELETES = "_delete_"
"""The key of a dict that replaces what the base has under its name, instead of being merged into it."""
_DEEPEST = 8
"""Bases of bases, and dicts within one another by `**base`, that are followed."""

Entry = tuple[str, ast.expr, Frame]


def entries(program: Program, value: Collection, depth: int = 0) -> Iterator[Entry]:
    """What a dict has under its keys, in order, what it takes from others by `**base` among it; an empty key stands for
    what cannot be seen."""
    for key, item in zip(value.keys, value.items, strict=False):
        name = key.value if isinstance(key, ast.Constant) else key
        if isinstance(name, str):
            yield name, item, value.frame
            continue
        inner = program.evaluator.values(item, value.frame) if key is None and depth < _DEEPEST else ()
        base = inner[0] if len(inner) == 1 else None
        if isinstance(base, Collection) and base.kind == "dict" and base.each is None:
            yield from entries(program, base, depth + 1)
        else:
            yield "", item, value.frame


def inherited(program: Program, module: Module, name: str, depth: int = 0) -> tuple[list[Collection], bool]:
    """The dicts that a config's own dict of this name is merged onto, the nearest first; and whether these are all."""
    files, whole = _bases(program, module)
    if depth > _DEEPEST:
        return [], not files and whole
    for file in files:
        found, inner_whole = _layers(program, file, name, depth + 1)
        if found:  # of two bases that have a name, the runner takes neither: it refuses the config
            return found, inner_whole
        whole = whole and inner_whole
    return [], whole


def setting(program: Program, module: Module, *path: str) -> Values | None:
    """What a config, with its bases, has under these keys within one another: nothing if none of them has it, None if
    that cannot be told."""
    dicts, whole = _layers(program, module, path[0], 0)
    return _within(program, dicts, path[1:], whole=whole)


def setting_within(program: Program, values: Values, *path: str) -> Values | None:
    """The same for what an expression is known to be."""
    dicts = [value for value in values if isinstance(value, Collection) and value.kind == "dict"]
    return _within(program, dicts, path, whole=True) if len(dicts) == len(values) < 2 else None


def _within(program: Program, dicts: list[Collection], path: tuple[str, ...], *, whole: bool) -> Values | None:
    for key in path[:-1]:
        found = [_item(program, value, key) for value in dicts]
        dicts = [value for value in found if isinstance(value, Collection) and value.kind == "dict"]
        if len(dicts) < len([value for value in found if value is not None]):
            return None
        dicts, whole = _until_deleted(program, dicts, whole)
    for value in dicts:
        named = {name: (item, frame) for name, item, frame in entries(program, value)}
        if path[-1] in named:
            return program.evaluator.values(*named[path[-1]])
        whole = whole and "" not in named
    return () if whole else None


def replaces(program: Program, value: Collection) -> bool:
    """Whether a dict takes nothing from the base: `dict(_delete_=True, ...)`."""
    return any(name == _DELETES for name, _, _ in entries(program, value))


def _layers(program: Program, module: Module, name: str, depth: int) -> tuple[list[Collection], bool]:
    """The dict of a config under a name, and those that it is merged onto; and whether these are all."""
    bound = module.scope.bindings.get(name, [])
    if not bound:
        return inherited(program, module, name, depth)
    node = bound[-1].value if len(bound) == 1 and bound[0].kind == "assign" else None
    values = program.evaluator.values(node, Frame(module.scope)) if isinstance(node, ast.expr) else ()
    own = values[0] if len(values) == 1 else None
    if not isinstance(own, Collection) or own.kind != "dict" or own.each is not None:
        return [], False
    if replaces(program, own):
        return [own], True
    found, whole = inherited(program, module, name, depth)
    return [own, *found], whole


def _until_deleted(program: Program, dicts: list[Collection], whole: bool) -> tuple[list[Collection], bool]:
    for at, value in enumerate(dicts):
        if replaces(program, value):
            return dicts[: at + 1], True
    return dicts, whole


def _item(program: Program, value: Collection, key: str) -> Value | None:
    """What a dict has under a key, if that is one thing."""
    found = [program.evaluator.values(item, frame) for name, item, frame in entries(program, value) if name == key]
    return found[-1][0] if found and len(found[-1]) == 1 else None


def _bases(program: Program, module: Module) -> tuple[list[Module], bool]:
    """The files of the project that a config names as its bases, and whether it names no others."""
    bound = module.scope.bindings.get(_BASE, [])
    if not bound:
        return [], True
    value = bound[0].value
    paths = list(_texts(program, value, Frame(module.scope))) if isinstance(value, ast.expr) else [""]
    folder = os.path.dirname(module.absolute)
    found = [program.modules.by_file.get(os.path.normpath(f"{folder}/{path}")) for path in paths if path]
    known = [file for file in found if file is not None and file is not module]
    return known, len(known) == len(paths)


def _texts(program: Program, node: ast.expr, frame: Frame) -> Iterator[str]:
    """The texts of a list, or the one text that stands alone; an empty one for what is not known."""
    for value in program.evaluator.values(node, frame):
        if isinstance(value, Collection) and value.kind in ("list", "tuple") and value.each is None:
            yield from (text for item in value.items for text in _texts(program, item, value.frame))
        else:
            yield value.value if isinstance(value, Const) and isinstance(value.value, str) else ""
