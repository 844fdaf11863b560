"""What a script does to the world outside whenever it is imported, as each spawned worker imports it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.apis.side_effects import EMPTIES_BY, SIDE_EFFECTS
from dllint.code.language import conditions
from dllint.code.language.links import block_of
from dllint.code.language.scopes import last_name
from dllint.code.language.values import Const, Derived, External, Frame, Product
from dllint.code.loaders.loader import Loader
from dllint.code.processes import effects, start_method
from dllint.code.processes.effects import Effect
from dllint.code.processes.scripts import Script
from dllint.code.workers import writing

if TYPE_CHECKING:
    from dllint.code.program import Program

_PRESENCE = frozenset({"exists", "isdir", "isfile", "is_dir", "is_file", "lexists", "listdir"})


def spawning_loader(script: Script) -> Loader | None:
    """A loader of the script, or of what it imports, whose workers may be spawned and so import the script again."""
    if b"__main__" not in script.module.data:
        return None
    for loader in script.program.facts.loaders:
        if not loader.has_workers or not start_method.of_loader(script.program, loader) & start_method.PICKLING:
            continue
        if any(module is script.module for module in script.program.importers(loader.module)):
            return loader
    return None


def at_import(script: Script) -> Iterator[tuple[Effect, str]]:
    """What the script does outside of the main guard, with a word for it: `opens for writing`, `deletes` ..."""
    for effect in effects.at_import(script.program, script.module, _is_done_again):
        what = _what(script.program, effect)
        if what:
            yield effect, what


def _is_done_again(node: ast.AST) -> bool:
    """Whether at most the presence of a file decides: a folder is deleted again, once it is there again."""
    if effects.is_on_every_way(node):
        return True
    plain = all(block.owner is None or isinstance(block.owner, ast.If) for block in block_of(node).chain())
    tests = conditions.leading_to(node)
    return plain and all(outcome and _asks_for_presence(test) for test, outcome in tests)


def _asks_for_presence(test: ast.expr) -> bool:
    return isinstance(test, ast.Call) and last_name(test.func) in _PRESENCE


def _what(program: Program, effect: Effect) -> str:
    call = effect.node
    if not isinstance(call, ast.Call):
        return ""
    for value in program.evaluator.values(call.func, effect.frame):
        if isinstance(value, External) and value.name in SIDE_EFFECTS:
            return SIDE_EFFECTS[value.name]
        if isinstance(value, External) and _empties(program, call, value.name, effect.frame):
            return "opens for writing"
        if isinstance(value, Derived) and value.via in (".unlink", ".rmdir") and _is_path(value):
            return "deletes"
    return "opens for writing" if any(writing.outputs(program, call, effect.frame)) else ""


def _empties(program: Program, call: ast.Call, name: str, frame: Frame) -> bool:
    """`logging.basicConfig(filename="run.log", filemode="w")`."""
    mode = next((k.value for k in call.keywords if k.arg == EMPTIES_BY.get(name, "")), None)
    if name == "logging.FileHandler" and len(call.args) > 1:
        mode = call.args[1]
    found = program.evaluator.values(mode, frame) if mode is not None else ()
    return any(isinstance(value, Const) and value.value == "w" for value in found)


def _is_path(value: Derived) -> bool:
    return isinstance(value.origin, Product) and value.origin.name.startswith("pathlib.")
