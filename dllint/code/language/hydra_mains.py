"""What Hydra gives to a script: `@hydra.main(config_path="conf", config_name="train")`."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language.config_files import changes, held_by
from dllint.code.language.scopes import FunctionScope, last_name
from dllint.code.language.spelling import VARIABLE, spelled
from dllint.code.language.values import Const, External, Frame, Product, Values

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator

_MAIN = "hydra.main"
_SUFFIXES = (".yaml", ".yml")


def config(ev: Evaluator, name: str, scope: FunctionScope) -> Values:
    """The config that the first parameter of a Hydra script is, as its file says it; empty if nothing tells.

    What the command line may override counts as not overridden, like the defaults of other options. What other files
    of a defaults list put in is not known.
    """
    if not scope.parameters or scope.parameters[0].arg != name or changes(scope, [name]):
        return ()
    place = next((place for call in _decorators(ev, scope) for place in _primary(ev, call, scope)), None)
    held = held_by(ev, place) if place is not None else None
    if held is None or _may_be_replaced(held[0]):
        return ()
    return ev.infer(held[0], Frame(held[1].scope))


def _decorators(ev: Evaluator, scope: FunctionScope) -> Iterator[ast.Call]:
    for node in getattr(scope.node, "decorator_list", ()):
        if isinstance(node, ast.Call) and last_name(node) == "main":
            around = Frame(scope.parent or scope)
            if any(isinstance(value, External) and value.name == _MAIN for value in ev.infer(node.func, around)):
                yield node


def _primary(ev: Evaluator, call: ast.Call, scope: FunctionScope) -> Iterator[str]:
    """The file that a script is started with, if both its folder and its name are constant."""
    given = {k.arg: k.value for k in call.keywords} | dict(zip(("config_path", "config_name"), call.args, strict=False))
    around = Frame(scope.parent or scope)
    parts = [_text(ev, given[option], around) for option in ("config_path", "config_name") if option in given]
    if len(parts) != 2 or any(not part or VARIABLE in part for part in parts):
        return
    base = os.path.normpath(os.path.join(os.path.dirname(scope.module.absolute), *parts))
    places = [base] if base.endswith(_SUFFIXES) else [base + suffix for suffix in _SUFFIXES]
    yield from (place for place in places if os.path.isfile(place))


def _text(ev: Evaluator, node: ast.expr, frame: Frame) -> str:
    """The text that an expression gives; of a variable of the environment its default, as of what the command line may
    override."""
    found = ev.infer(node, frame)
    value = found[0] if len(found) == 1 else None
    if isinstance(value, Product) and value.name in ("os.environ.get", "os.getenv"):
        given = [*value.node.args[1:2], *(k.value for k in value.node.keywords if k.arg == "default")]
        return _text(ev, given[0], value.frame) if given else ""
    if isinstance(value, Const):
        return value.value if isinstance(value.value, str) else ""
    return spelled(ev, node, frame)


def _may_be_replaced(mapping: ast.Dict) -> bool:
    """Whether the defaults list names groups that the file itself speaks of: the order says which of them wins."""
    entries = _entries(mapping)
    listed = entries.pop("defaults", None)
    items = [_entries(item) for item in getattr(listed, "elts", ()) if isinstance(item, ast.Dict)]
    return any(_goes_to(group) in entries for item in items for group in item)


def _goes_to(group: str) -> str:
    """The key that an entry of a defaults list puts something under: of `override data/crops@train.data` "train"."""
    place = group.rpartition(" ")[2].rpartition("@")[2]
    return place.replace("/", ".").strip(".").partition(".")[0]


def _entries(mapping: ast.Dict) -> dict[str, ast.expr]:
    """What stands under the keys of a mapping."""
    pairs = zip(mapping.keys, mapping.values, strict=True)
    return {str(key.value): value for key, value in pairs if isinstance(key, ast.Constant)}
