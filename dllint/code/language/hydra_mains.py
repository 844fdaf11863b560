"""What Hydra gives to a script: `@hydra.main(config_path="conf", config_name="train")`."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dllint.code.language.config_files import changes
from dllint.code.language.hydra_configs import HydraConfig, config_of
from dllint.code.language.modules import Module
from dllint.code.language.scopes import FunctionScope, last_name
from dllint.code.language.spelling import VARIABLE, spelled
from dllint.code.language.values import Const, External, Frame, Product, Values

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator

_MAIN = "hydra.main"
_NAMES = ("config-name", "cn")
"""Hydra's options for the name of another config."""
_FOLDERS = ("config-path", "cp")
"""Those for another folder, from the script's own on."""
_MORE = ("config-dir", "cd")
"""Those for one more folder, in which nobody knows what is found."""
OPTIONS = (*_NAMES, *_FOLDERS, *_MORE)


def config(ev: Evaluator, name: str, scope: FunctionScope) -> Values:
    """The config that the first parameter of a Hydra script is, as its files say it; empty if nothing tells.

    What the command line may override counts as not overridden, like the defaults of other options.
    """
    if not scope.parameters or scope.parameters[0].arg != name or changes(scope, [name]):
        return ()
    place = next((place for call in _decorators(ev, scope) for place in _primary(ev, call, scope)), None)
    found = config_of(ev, *place, {}) if place is not None else None
    return ev.infer(found.held, Frame(found.scope)) if found is not None else ()


def started(ev: Evaluator, module: Module, arguments: Sequence[str]) -> HydraConfig | None:
    """The config that Hydra gives to a script which is passed some words; None if it gives none, or nobody sees it."""
    every = (scope for scope in module.scope.index().children.values() if isinstance(scope, FunctionScope))
    mains = [scope for scope in every if "main" in scope.decorators]
    places = [place for scope in mains for call in _decorators(ev, scope) for place in _primary(ev, call, scope)]
    return told(ev, module, *places[0], arguments) if len(places) == 1 else None


def told(ev: Evaluator, module: Module, folder: str, name: str, arguments: Sequence[str]) -> HydraConfig | None:
    """The config that a command chooses in the place of one that the script names."""
    options = _options(arguments)
    if any(option in options for option in _MORE) or any(word.startswith("~") for word in arguments):
        return None
    path = next((options[option] for option in _FOLDERS if option in options), None)
    if path is not None:
        folder = os.path.normpath(os.path.join(os.path.dirname(module.absolute), path))
    name = next((options[option] for option in _NAMES if option in options), name)
    return config_of(ev, folder, name, overrides_in(arguments))


def overrides_in(arguments: Sequence[str]) -> dict[str, str]:
    """What a command says of groups and values, by their keys: `data=images`, `+data.num_workers=8`, which
    is appended."""
    pairs = (word.partition("=") for word in arguments if not word.startswith("-"))
    return {key.replace("++", ""): value for key, equals, value in pairs if equals}


def _options(arguments: Sequence[str]) -> dict[str, str]:
    """Hydra's own options and their values."""
    found: dict[str, str] = {}
    for word, after in zip(arguments, [*arguments[1:], ""], strict=False):
        name, equals, value = word.partition("=")
        if name.startswith("-"):
            found[name.lstrip("-")] = value if equals else after
    return found


def _decorators(ev: Evaluator, scope: FunctionScope) -> Iterator[ast.Call]:
    for node in getattr(scope.node, "decorator_list", ()):
        if isinstance(node, ast.Call) and last_name(node) == "main":
            around = Frame(scope.parent or scope)
            if any(isinstance(value, External) and value.name == _MAIN for value in ev.values(node.func, around)):
                yield node


def _primary(ev: Evaluator, call: ast.Call, scope: FunctionScope) -> Iterator[tuple[str, str]]:
    """The folder and the name of the config that a script is started with, if both are constant."""
    given = {k.arg: k.value for k in call.keywords} | dict(zip(("config_path", "config_name"), call.args, strict=False))
    around = Frame(scope.parent or scope)
    parts = [_text(ev, given[option], around) for option in ("config_path", "config_name") if option in given]
    if len(parts) != 2 or any(not part or VARIABLE in part for part in parts):
        return
    folder, config_name = parts
    yield os.path.normpath(os.path.join(os.path.dirname(scope.module.absolute), folder)), config_name


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
