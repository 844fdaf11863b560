"""What a program reads out of its own config file, of which the path is constant: `yaml.safe_load(open("a.yaml"))`."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language.links import parent
from dllint.code.language.modules import Module
from dllint.code.language.scopes import ModuleScope, Scope, last_name
from dllint.code.language.values import Const, Derived, Frame, Product, Value, Values
from dllint.code.language.yaml_trees import Expressions
from dllint.syntax.python import CannotParseError
from dllint.syntax.yaml import documents

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator
    from dllint.code.program import Program

_BY_PATH = "omegaconf.OmegaConf.load"
_LARGEST = 200_000
_READS = frozenset({"with", ".read()", ".read_text()", ".open()"})
_CHANGES = frozenset({"update", "setdefault", "merge_with", "merge_update", "merge_from_file", "pop", "clear"})


class _ConfigFile(Module):
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
    if argument is None or _is_changed(frame.scope, call):
        return plain
    paths = {path for value in ev.infer(argument, frame) for path in _paths(ev, value, direct=name == _BY_PATH)}
    file = _file(ev, frame.scope.module, paths.pop()) if len(paths) == 1 else None
    body = file.scope.node.body if file is not None and isinstance(file.scope.node, ast.Module) else []
    held = body[0].value if body and isinstance(body[0], ast.Expr) else None
    return plain if file is None or not isinstance(held, ast.Dict) else ev.infer(held, Frame(file.scope))


def _paths(ev: Evaluator, value: Value, *, direct: bool) -> Iterator[str]:
    """The paths that a value names, or of the files that it is: empty where that is not known."""
    if isinstance(value, Derived) and all(step.via in _READS for step in value.chain()):
        yield from _paths(ev, value.origin, direct=False)
    elif isinstance(value, Product) and value.name in ("builtins.open", "pathlib.Path"):
        named = _named(value)
        found = ev.infer(named, value.frame) if named is not None else ()
        yield from (path for inner in found for path in _paths(ev, inner, direct=True)) if found else ("",)
    else:
        yield value.value if direct and isinstance(value, Const) and isinstance(value.value, str) else ""


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


def _read(program: Program, place: str) -> Module | None:
    try:
        if os.path.getsize(place) > _LARGEST:
            return None
        with open(place, "rb") as file:
            data = file.read()
    except OSError:
        return None
    return _ConfigFile(_shown(program, place), place, os.path.basename(place), False, data, False)


def _shown(program: Program, place: str) -> str:
    """What a report calls a file: as it calls those of the program."""
    one = next(iter(program.modules.by_file.values()))
    base = one.absolute.removesuffix(one.path)
    is_below = len(base) + len(one.path) == len(one.absolute) and place.startswith(base)
    return place.removeprefix(base) if is_below else os.path.relpath(place, program.modules.root)


def _is_changed(scope: Scope, call: ast.Call) -> bool:
    """Whether the function that reads a config changes what it has read."""
    statement = parent(call)
    names = [n.id for n in getattr(statement, "targets", ()) if isinstance(n, ast.Name)]
    return bool(names) and changes(scope, names)


def changes(scope: Scope, names: list[str]) -> bool:
    """Whether a function changes something within what these names hold."""
    scope.index()
    stores = [node for node in scope.subscripts if not isinstance(node.ctx, ast.Load)]
    changed = [_root(node) for node in stores] + [_root(write.target) for write in scope.writes]
    changed += [_root(each.func) for each in scope.calls if last_name(each) in _CHANGES]
    return any(name in changed for name in names)


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
