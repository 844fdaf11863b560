"""What a program reads out of its own config file, of which the path is constant: `yaml.safe_load(open("a.yaml"))`."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language.links import parent
from dllint.code.language.modules import Module
from dllint.code.language.scopes import ModuleScope, Scope, last_name
from dllint.code.language.values import UNKNOWN, Const, Derived, Frame, Product, Value, Values
from dllint.code.language.yaml_trees import Expressions
from dllint.syntax.python import CannotParseError
from dllint.syntax.yaml import documents

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator
    from dllint.code.program import Program

BY_PATH = "omegaconf.OmegaConf.load"
_LARGEST = 200_000
_READS = frozenset({"with", ".read()", ".read_text()", ".open()"})
_CHANGES = frozenset({"update", "setdefault", "merge_with", "merge_update", "merge_from_file", "pop", "clear"})


class ConfigFile(Module):
    """A config file as a module of one expression."""

    is_python = False

    @property
    def scope(self) -> ModuleScope:
        """What the file holds; nothing, if it cannot be parsed."""
        if self._scope is None:
            try:
                root = next(documents(self.source.text), None)
            except CannotParseError as error:
                root, self.error = None, error
            made = [] if root is None else [Expressions().of(root)]
            body: list[ast.stmt] = [ast.copy_location(ast.Expr(value=value), value) for value in made]
            self._scope = ModuleScope(ast.Module(body=body, type_ignores=[]), self, None, self.name)
            self._scope.index()
        return self._scope


def contents(ev: Evaluator, name: str, call: ast.Call, frame: Frame) -> Values:
    """What a call that reads a config gives: what the file holds, if that is one file of the project, and the function
    that reads it changes nothing. Else what such a call gives that nothing is known of."""
    plain: Values = (Product(name, call, frame),)
    argument = call.args[0] if call.args else None
    if argument is None or is_changed(frame.scope, call):
        return plain
    paths = {_text(path) for value in ev.infer(argument, frame) for path in paths_of(ev, value, direct=name == BY_PATH)}
    file = _file(ev, frame.scope.module, paths.pop()) if len(paths) == 1 else None
    body = file.scope.node.body if file is not None and isinstance(file.scope.node, ast.Module) else []
    held = body[0].value if body and isinstance(body[0], ast.Expr) else None
    return plain if file is None or not isinstance(held, ast.Dict) else ev.infer(held, Frame(file.scope))


def paths_of(ev: Evaluator, value: Value, *, direct: bool) -> Iterator[Value]:
    """What names the files that a value names, or is: unknown where it is neither."""
    if isinstance(value, Derived) and all(step.via in _READS for step in value.chain()):
        yield from paths_of(ev, value.origin, direct=False)
    elif isinstance(value, Product) and value.name in ("builtins.open", "pathlib.Path"):
        named = _named(value)
        found = ev.infer(named, value.frame) if named is not None else ()
        yield from (path for inner in found or (UNKNOWN,) for path in paths_of(ev, inner, direct=True))
    else:
        yield value if direct else UNKNOWN


def _text(path: Value) -> str:
    return path.value if isinstance(path, Const) and isinstance(path.value, str) else ""


def _named(value: Product) -> ast.expr | None:
    """What names the file that is opened: `open(path)`, `Path(path).open()`."""
    call = value.node
    if isinstance(call.func, ast.Attribute) and value.name == "builtins.open":
        return call.func.value
    is_one = len(call.args) == 1 or (value.name == "builtins.open" and len(call.args) > 1)
    return call.args[0] if is_one else None


def _file(ev: Evaluator, module: Module, path: str) -> Module | None:
    """The file that a script means by a relative path: from the project's root, or beside the script."""
    if not path or os.path.isabs(path):
        return None
    places = (os.path.join(folder, path) for folder in (ev.program.modules.root, os.path.dirname(module.absolute)))
    found = {os.path.normpath(place) for place in places if os.path.isfile(place)}
    if len(found) != 1:
        return None
    return _at(ev, found.pop())


def _at(ev: Evaluator, place: str) -> Module | None:
    memo = ev.program.config_files
    if place not in memo:
        memo[place] = _read(ev.program, place)
    return memo[place]


def held_by(ev: Evaluator, place: str) -> tuple[ast.Dict, Module] | None:
    """The mapping that a YAML file holds, and the file; None if it cannot be read, or holds something else."""
    file = _at(ev, place)
    body = file.scope.node.body if file is not None and isinstance(file.scope.node, ast.Module) else []
    held = body[0].value if body and isinstance(body[0], ast.Expr) else None
    return (held, file) if isinstance(held, ast.Dict) and file is not None else None


def named_by_a_command(ev: Evaluator, script: Module, written: str, started: str) -> ast.Dict | None:
    """The mapping in the config file that a command passes to a script: from the folder that this is started in, or
    one around it, or by the end of a path in the container (`/app/configs/base.yaml`). None where there is no such
    file. `started`: the script as the command names it, `src/train.py` or `pkg.train`."""
    root, folder = ev.program.modules.root, os.path.dirname(script.absolute)
    path = os.path.normpath(started if started.endswith(".py") else started.replace(".", "/") + ".py")
    home = script.absolute.removesuffix("/" + path.lstrip("/"))
    parts = [part for part in written.split("/") if part not in ("", ".")]
    ends = range(len(parts)) if os.path.isabs(written) else range(1)
    for around in dict.fromkeys([home, root, *_upwards(folder, root)]):
        for start in ends:
            place = os.path.normpath(os.path.join(around, *parts[start:]))
            held = of_project(ev, place)
            if held is not None:
                return held
    return None


def of_project(ev: Evaluator, place: str) -> ast.Dict | None:
    """The mapping that a config file at a path holds; None for one outside of the project, or none at all."""
    root = os.path.realpath(ev.program.modules.root).rstrip(os.sep) + os.sep
    is_own = os.path.isfile(place) and os.path.realpath(place).startswith(root)
    held = held_by(ev, place) if is_own else None
    return held[0] if held is not None else None


def _upwards(folder: str, root: str) -> Iterator[str]:
    while len(folder) > len(root):
        yield folder
        folder = os.path.dirname(folder)


def _read(program: Program, place: str) -> Module | None:
    try:
        if os.path.getsize(place) > _LARGEST:
            return None
        with open(place, "rb") as file:
            data = file.read()
    except OSError:
        return None
    return ConfigFile(_shown(program, place), place, os.path.basename(place), False, data, False)


def _shown(program: Program, place: str) -> str:
    """What a report calls a file: as it calls those of the program."""
    one = next(iter(program.modules.by_file.values()))
    base = one.absolute.removesuffix(one.path)
    is_below = len(base) + len(one.path) == len(one.absolute) and place.startswith(base)
    return place.removeprefix(base) if is_below else os.path.relpath(place, program.modules.root)


def is_changed(scope: Scope, call: ast.Call) -> bool:
    """Whether the function that reads a config changes what it has read."""
    statement = parent(call)
    names = [n.id for n in getattr(statement, "targets", ()) if isinstance(n, ast.Name)]
    return bool(names) and changes(scope, names)


def changes(scope: Scope, names: list[str]) -> bool:
    """Whether a function changes something within what these names hold."""
    scope.index()
    stores = [node for node in scope.subscripts if not isinstance(node.ctx, ast.Load)]
    changed = [root_of(node) for node in stores] + [root_of(write.target) for write in scope.writes]
    changed += [root_of(each.func) for each in scope.calls if last_name(each) in _CHANGES]
    return any(name in changed for name in names)


def root_of(node: ast.AST) -> str:
    """The name that attributes, entries and calls are got from; empty where they are got from something else."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
