"""Where in a config file a value stands, of the config that a program reads by default or that the command names."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dllint.code.language.config_files import BY_PATH, ConfigFile, changes, is_changed, paths_of, root_of
from dllint.code.language.libcalls import READS_CONFIG
from dllint.code.language.links import parent
from dllint.code.language.scopes import dotted
from dllint.code.language.values import Const, Derived, External, Frame, Product, Unknown, Value

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator

_DEEPEST = 8
"""Merge keys within merge keys, and steps of an expression."""


def keys_of(value: Value, ev: Evaluator, frame: Frame) -> tuple[str, ...]:
    """The keys that lead to a value in a config file, the outermost first: in that which it is read from by default, or
    in whatever the command names. None where the program itself names what nobody sees, or changes what it has read.

    `frame`: where the value is used.
    """
    if isinstance(value, Const):
        return _keys_of_constant(value, ev, frame)
    return _path(ev, value) or ()


def keys_at(node: ast.expr, ev: Evaluator, frame: Frame) -> tuple[str, ...]:
    """The same for an expression, also where nothing is known of its value: `int(config["workers"])`."""
    return _path_of(ev, node, frame) or ()


def _keys_of_constant(value: Const, ev: Evaluator, frame: Frame) -> tuple[str, ...]:
    """Those of a constant of a config file, or of the default in `config.get("workers", 0)`."""
    if value.scope is not None and isinstance(value.scope.module, ConfigFile):
        return tuple(_keys_above(value.node))[::-1]
    asking = parent(value.node)
    if not isinstance(asking, ast.Call) or value.scope is None or value.node not in asking.args[1:2]:
        return ()
    return _path_of(ev, asking, frame if frame.scope is value.scope else Frame(value.scope)) or ()


def _keys_above(node: ast.AST) -> Iterator[str]:
    below, around = node, parent(node)
    while isinstance(around, ast.Dict):
        at = around.values.index(below) if isinstance(below, ast.expr) and below in around.values else None
        yield _text_of(around.keys[at]) if at is not None else ""
        below, around = around, parent(around)


def _path_of(ev: Evaluator, node: ast.expr, frame: Frame, depth: int = 0) -> tuple[str, ...] | None:
    """The keys by which an expression is got out of the config that the command names; None where it is no part of
    that: `config.get("data", {}).get("workers", 0)`, `int(config["workers"])`, or a name for these."""
    if depth > _DEEPEST:
        return None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        base, key = _path_of(ev, node.func.value, frame, depth + 1), _text_of(node.args[0])
        return (*base, key) if base is not None and key else None
    if isinstance(node, ast.Call) and dotted(node.func) == "int" and len(node.args) == 1:
        return _path_of(ev, node.args[0], frame, depth + 1)
    bound = frame.scope.index().bindings.get(node.id, ()) if isinstance(node, ast.Name) else ()
    if len(bound) == 1 and isinstance(bound[0].value, ast.Call):
        return _path_of(ev, bound[0].value, frame, depth + 1)
    values = [value for value in ev.values(node, frame) if not _is_left_open(value)]
    paths = {_path(ev, value) for value in values}
    return paths.pop() if len(paths) == 1 else None


def _is_left_open(value: Value) -> bool:
    return (isinstance(value, Const) and value.value is None) or (isinstance(value, Unknown) and value.overrides)


def _path(ev: Evaluator, value: Value) -> tuple[str, ...] | None:
    origin = value.origin if isinstance(value, Derived) else value
    if not isinstance(origin, Product) or not _is_told(ev, origin):
        return None
    steps = list(value.chain()) if isinstance(value, Derived) else []
    if any(_is_changed_at(step) for step in steps):
        return None
    keys = [step.index if step.via == "[]" else step.via.removeprefix(".") for step in steps]
    names = [key for key in keys if isinstance(key, str)]
    return tuple(names[::-1]) if len(names) == len(keys) else None


def _is_changed_at(step: Derived) -> bool:
    """Whether the function that takes something out of a config changes it: `config["workers"] = args.workers`."""
    name = root_of(step.node)
    return name not in ("", "self") and changes(step.frame.scope, [name])


def _is_told(ev: Evaluator, read: Product) -> bool:
    """Whether a call reads the config that an option, or an argument of the command, names, and leaves it as it is."""
    argument = read.node.args[0] if read.name in READS_CONFIG and read.node.args else None
    if argument is None or is_changed(read.frame.scope, read.node):
        return False
    found = ev.values(argument, read.frame)
    paths = [path for value in found for path in paths_of(ev, value, direct=read.name == BY_PATH)]
    paths = [path for path in paths if not (isinstance(path, Const) and path.value is None)]
    return bool(paths) and all(map(_is_passed, paths))


def _is_passed(path: Value) -> bool:
    origin = path.origin if isinstance(path, Derived) else path
    if isinstance(origin, Unknown):
        return bool(origin.name)
    return isinstance(origin, External) and origin.name == "sys.argv"


def value_at(held: ast.expr, keys: Sequence[str]) -> ast.expr | None:
    """What a config has under some keys, the outermost first; of a key that stands there twice the last counts."""
    found: ast.expr | None = held
    for key in keys:
        found = _entry(found, key) if isinstance(found, ast.Dict) else None
    return found


def _entry(held: ast.Dict, key: str, depth: int = 0) -> ast.expr | None:
    pairs = list(zip(held.keys, held.values, strict=True))
    own = [value for name, value in pairs if _text_of(name) == key]
    if own or depth > _DEEPEST:
        return own[-1] if own else None
    merged = [value for name, value in pairs if name is None and isinstance(value, ast.Dict)]  # `<<: *base`
    return next((found for each in merged if (found := _entry(each, key, depth + 1)) is not None), None)


def _text_of(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
