"""The data sets and transforms that an OpenMMLab config names.

`dataset=dict(type="Flowers", pipeline=[dict(type="RandomCrop", size=64)])`
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language.links import bound_call, parent, set_bound_call, set_parent
from dllint.code.language.scopes import ClassScope, last_name
from dllint.code.language.values import ClassRef, Collection, Const, Instance, Value
from dllint.code.loaders.configs import is_config
from dllint.code.loaders.loader import Loader

if TYPE_CHECKING:
    from dllint.code.program import Program

_AROUND = frozenset({"dataset", "datasets"})
_LISTS = frozenset({"pipeline", "transforms"})
_DEEPEST = 6
"""Wrappers of datasets, and lists within them, that are looked into."""


def transforms(program: Program, loader: Loader) -> tuple[Instance, ...]:
    """The objects of project classes that the pipelines of a loader's config make."""
    if not is_config(loader):
        return ()
    found = program.evaluator.values(loader.call, loader.frame)
    return tuple(made for value in found for made in _within(program, value, 0))


def datasets(program: Program, loader: Loader) -> tuple[Instance, ...]:
    """The data sets of project classes that a loader's config makes, those that others wrap among them."""
    if not is_config(loader):
        return ()
    found = program.evaluator.values(loader.call, loader.frame)
    return tuple(made for value in found for made in _datasets(program, value, 0))


def _datasets(program: Program, value: Value, depth: int) -> Iterator[Instance]:
    if not isinstance(value, Collection) or depth > _DEEPEST:
        return
    keys = value.keys if value.kind == "dict" else (None,) * len(value.items)
    for key, item in zip(keys, value.items, strict=False):
        name = key.value if isinstance(key, ast.Constant) else key
        if value.kind == "dict" and name not in _AROUND:
            continue
        for inner in program.evaluator.values(item, value.frame):
            if isinstance(inner, Collection) and inner.kind == "dict":
                yield from _made(program, inner)
            yield from _datasets(program, inner, depth + 1)


def _within(program: Program, value: Value, depth: int, *, listed: bool = False) -> Iterator[Instance]:
    """What a recipe makes, if it stands in a pipeline, and what the recipes in it make."""
    if not isinstance(value, Collection) or depth > _DEEPEST:
        return
    if listed and value.kind == "dict":
        yield from _made(program, value)
    keys = value.keys if value.kind == "dict" else (None,) * len(value.items)
    for key, item in zip(keys, value.items, strict=False):
        name = key.value if isinstance(key, ast.Constant) else key
        if value.kind == "dict" and name not in _AROUND | _LISTS:
            continue
        inside = listed if value.kind != "dict" else name in _LISTS
        for inner in program.evaluator.values(item, value.frame):
            yield from _within(program, inner, depth + 1, listed=inside)


def _made(program: Program, recipe: Collection) -> Iterator[Instance]:
    """The object of `dict(type="Name", ...)`: the other arguments go to its class."""
    call = _as_call(recipe.node)
    given = [k.value for k in call.keywords if k.arg == "type"] if call is not None else []
    for value in (v for node in given for v in program.evaluator.values(node, recipe.frame)):
        cls = value.cls if isinstance(value, ClassRef) else None
        if isinstance(value, Const) and isinstance(value.value, str):
            cls = _registered(program, value.value.rpartition(".")[2])
        if cls is not None and call is not None:
            yield Instance(cls, call, recipe.frame)


def _as_call(node: ast.AST) -> ast.Call | None:
    """A recipe as the call `dict(type=...)`, also where it is written as `{"type": ...}`: always the same one."""
    if not isinstance(node, ast.Dict):
        return node if isinstance(node, ast.Call) else None
    made = bound_call(node)
    if made is None:
        named = [(getattr(key, "value", None), value) for key, value in zip(node.keys, node.values, strict=True)]
        keywords = [ast.keyword(arg=name, value=value) for name, value in named if isinstance(name, str)]
        made = ast.copy_location(ast.Call(ast.Name("dict", ast.Load()), [], keywords), node)
        set_parent(made, parent(node))
        set_bound_call(node, made)
    return made


def _registered(program: Program, name: str) -> ClassScope | None:
    """The class that a registry has under a name, if the project registers only one."""
    modules = program.modules_with("register_module")
    found = [cls for module in modules for cls in module.classes if name in _names(cls)]
    return found[0] if len(found) == 1 else None


def _names(cls: ClassScope) -> list[str]:
    """The names that `@REGISTRY.register_module()` registers a class by."""
    found = []
    for node in cls.node.decorator_list if isinstance(cls.node, ast.ClassDef) else ():
        if last_name(node) != "register_module":
            continue
        given = [k.value for k in node.keywords if k.arg == "name"] if isinstance(node, ast.Call) else []
        texts = [part.value for value in given for part in ast.walk(value) if isinstance(part, ast.Constant)]
        found += [text for text in texts if isinstance(text, str)] or [cls.name]
    return found
