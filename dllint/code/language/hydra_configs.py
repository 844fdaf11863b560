"""The config that Hydra puts together of its files: its own one, and those that the defaults lists name.

How the files are merged is that of Hydra 1.1 to 1.3 (https://hydra.cc/docs/advanced/defaults_list/). What its order
leaves open, or this does not follow, is unknown.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from dllint.code.language.config_files import ConfigFile, held_by
from dllint.code.language.hydra_defaults import (
    NONE,
    SELF,
    Entry,
    entry_of,
    keys_of,
    listed,
    package_of,
    pairs_of,
    under,
)
from dllint.code.language.links import scope_of, set_written_in, written_in
from dllint.code.language.modules import Module
from dllint.code.language.scopes import ModuleScope, Scope
from dllint.patterns import pattern
from dllint.records import dataclass, field

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator

SUFFIXES = (".yaml", ".yml")
_REFERENCE = pattern(r"\$\{([\w.]+)\}")
_Held = tuple[ast.Dict, Module]
"""The mapping that a file holds, and the file."""
_MOST_FILES = 60
_MOST_PASSES = 4
_DEEPEST = 8
"""Files that name one another in their defaults lists, and mappings and references that are followed."""


class HydraConfig(ConfigFile):
    """The config of a script as a module of one expression, whose nodes know the files that they are written in."""

    def __init__(self, primary: Module, folder: str, held: ast.Dict, files: list[Module], *, is_whole: bool) -> None:
        super().__init__(primary.path, primary.absolute, primary.name, False, b"", False)
        self.folder = folder
        """The absolute path of the folder that it is put together of."""
        self.config_name = os.path.splitext(os.path.relpath(primary.absolute, folder))[0]
        self.held = held
        self.files = files
        """Those that it is put together of."""
        self.is_whole = is_whole
        """Whether all of them are seen."""
        body: list[ast.stmt] = [ast.copy_location(ast.Expr(value=held), held)]
        self._scope = ModuleScope(ast.Module(body=body, type_ignores=[]), self, None, self.name)
        self._scope.index()


def config_of(ev: Evaluator, folder: str, name: str, overrides: Mapping[str, str]) -> HydraConfig | None:
    """The config of a name in a folder; None where there is none, or nobody sees how it is put together.

    `overrides`: what the command says, by its keys: the configs of groups (`data`, `data/crops`), and values
    (`data.num_workers`).
    """
    key = "\0".join([folder, name, *sorted(f"{key}={value}" for key, value in overrides.items())])
    memo = ev.program.hydra_configs
    if key not in memo:
        memo[key] = _config(ev, folder, name, overrides)
    return memo[key]


def _config(ev: Evaluator, folder: str, name: str, overrides: Mapping[str, str]) -> HydraConfig | None:
    """The same; what files override of the choices of others is found on a first way through."""
    choices = dict(overrides)
    for _ in range(_MOST_PASSES):
        composer = _Composer(ev, folder, choices)
        config = composer.config(name)
        more = {group: choice for group, choice in composer.overridden.items() if group not in choices}
        if not more:
            return config
        choices = {**more, **choices}
    return None


def config_with(node: ast.AST) -> HydraConfig | None:
    """The config that a node stands in; None where it stands elsewhere."""
    if written_in(node) is None:
        return None
    module = scope_of(node).module
    return module if isinstance(module, HydraConfig) else None


@dataclass(slots=True)
class _Part:
    """A mapping of the config that is being put together."""

    entries: dict[str, ast.expr | _Part] = field(default_factory=dict)


class _Composer:
    def __init__(self, ev: Evaluator, folder: str, overrides: Mapping[str, str]) -> None:
        self._ev = ev
        self._folder = folder
        self._overrides = {key: value for key, value in overrides.items() if not key.startswith("+")}
        self._appended = {key[1:]: value for key, value in overrides.items() if key.startswith("+")}
        self._asked: set[str] = set()
        """The groups that defaults lists name."""
        self.overridden: dict[str, str] = {}
        """What files choose of the groups of others: `override /data: images`."""
        self._files: list[Module] = []
        self._is_whole = True
        self._root = _Part()

    def config(self, name: str) -> HydraConfig | None:
        primary = self._file("", name)
        if primary is None or not self._add(primary, "", package_of(primary[1], ""), 0) or not self._append():
            return None
        others = ((key, value) for key, value in self._overrides.items() if key not in self._asked)
        for key, value in (*others, *self._appended.items()):
            _replace(self._root, key.split("."), value)
        held = _expression(self._root, primary[0])
        _resolve(held)
        return HydraConfig(primary[1], self._folder, held, self._files, is_whole=self._is_whole)

    def _append(self) -> bool:
        """Put in what the command appends to the defaults list: `+experiment=large`."""
        others = {key: value for key, value in self._overrides.items() if key not in self._asked}
        for key, config in {**others, **self._appended}.items():
            group, _, package = key.partition("@")
            file = self._file(group, config) if "." not in group else None
            place = package and under("", package)
            if file is not None and not self._add(file, group, place or package_of(file[1], keys_of(group)), 0):
                return False
        return True

    def _file(self, group: str, config: str) -> _Held | None:
        place = os.path.normpath(os.path.join(self._folder, group, config))
        places = [place] if place.endswith(SUFFIXES) else [place + suffix for suffix in SUFFIXES]
        inside = (each for each in places if each.startswith(os.path.join(self._folder, "")) and os.path.isfile(each))
        return next((held for each in inside if (held := held_by(self._ev, each)) is not None), None)

    def _add(self, file: _Held, group: str, package: str, depth: int) -> bool:
        """Put in a file, and those that its defaults list names, in its order. False where that is not understood."""
        held, module = file
        if depth > _DEEPEST or len(self._files) >= _MOST_FILES:
            return False
        self._files.append(module)
        items = listed(held)
        is_mixed = False
        says_where = any(isinstance(item, ast.Constant) and item.value == SELF for item in items)
        for item in items:
            if isinstance(item, ast.Constant) and item.value == SELF:
                self._merge(held, module, package)
                continue
            entry = entry_of(item, group)
            if entry is None or not self._add_entry(entry, package, depth):
                return False
            is_mixed = is_mixed or not entry.overrides
        if not says_where:
            self._merge(held, module, package, is_sure=not is_mixed)
        return True

    def _add_entry(self, entry: Entry, parent: str, depth: int) -> bool:
        if entry.group.startswith("hydra"):
            return True
        if entry.overrides:
            self.overridden[entry.key] = entry.config
            return True
        self._asked.add(entry.key)
        config = self._overrides.get(entry.key, entry.config) if entry.key else entry.config
        if config == NONE:
            return True
        file = self._file(entry.group, config)
        package = under(parent, entry.package)
        if file is not None:
            package = package if entry.is_packaged else package_of(file[1], package)
            return self._add(file, entry.group, package, depth + 1)
        if entry.is_optional:
            return True
        self._is_whole = False
        top = package.partition(".")[0]
        if top:
            self._root.entries[top] = _unknown()
        return bool(top)

    def _merge(self, held: ast.Dict, module: Module, package: str, *, is_sure: bool = True) -> None:
        part = self._root
        for key in filter(None, package.split(".")):
            inner = part.entries.get(key)
            if not isinstance(inner, _Part):
                inner = part.entries[key] = _Part()
            part = inner
        _merge_into(part, held, module.scope, is_sure=is_sure)


def _merge_into(part: _Part, held: ast.Dict, home: ModuleScope, *, is_sure: bool, depth: int = 0) -> None:
    """Put the entries of a mapping in: over those before, or in the place of what is unknown if that is not sure."""
    for name, value in pairs_of(held):
        if name == "defaults" and depth == 0:
            continue
        before = part.entries.get(name)
        if isinstance(value, ast.Dict) and depth < _DEEPEST:
            inner = before if isinstance(before, _Part) else _Part()
            if isinstance(before, ast.expr) and not is_sure:
                part.entries[name] = _unknown()
                continue
            part.entries[name] = inner
            _merge_into(inner, value, home, is_sure=is_sure, depth=depth + 1)
        else:
            part.entries[name] = _at_home(value, home) if before is None or is_sure else _unknown()


def _at_home(node: ast.expr, home: Scope, depth: int = 0) -> ast.expr:
    """A copy of a node that knows the file that it is written in."""
    made: ast.expr
    if isinstance(node, ast.Constant):
        made = ast.Constant(value=node.value)
    elif isinstance(node, ast.List) and depth < _DEEPEST:
        made = ast.List(elts=[_at_home(each, home, depth + 1) for each in node.elts], ctx=ast.Load())
    elif isinstance(node, ast.Dict) and depth < _DEEPEST:
        pairs = dict(pairs_of(node))
        keys: list[ast.expr | None] = [ast.copy_location(ast.Constant(value=name), node) for name in pairs]
        made = ast.Dict(keys=keys, values=[_at_home(value, home, depth + 1) for value in pairs.values()])
    else:
        made = ast.Name(id=node.id if isinstance(node, ast.Name) else "_unknown_", ctx=ast.Load())
    set_written_in(made, home)
    return ast.copy_location(made, node)


def _replace(part: _Part, keys: list[str], value: str) -> None:
    """Put what the command says in the place of an entry."""
    for key in keys[:-1]:
        inner = part.entries.get(key)
        if not isinstance(inner, _Part):
            return
        part = inner
    before = part.entries.get(keys[-1])
    if isinstance(before, ast.expr):
        made = ast.copy_location(ast.Constant(value=value), before)
        home = written_in(before)
        if home is not None:
            set_written_in(made, home)
        part.entries[keys[-1]] = made


def _resolve(held: ast.Dict) -> None:
    """Put what `${data.num_workers}` refers to in the place of it."""
    places = dict(_places(held, ()))
    for part, number in places.values():
        found = _referred_to(places, part.values[number], 0)
        if found is not None:
            part.values[number] = found


_Place = tuple[ast.Dict, int]
"""A mapping, and the number of one of its entries."""


def _places(part: ast.Dict, above: tuple[str, ...]) -> Iterator[tuple[str, _Place]]:
    """All entries by their keys, the outermost first, joined by dots."""
    for number, (name, value) in enumerate(pairs_of(part)):
        yield ".".join((*above, name)), (part, number)
        if isinstance(value, ast.Dict):
            yield from _places(value, (*above, name))


def _referred_to(places: dict[str, _Place], node: ast.expr, depth: int) -> ast.expr | None:
    """The constant that a reference leads to, by way of others."""
    reference = _REFERENCE.fullmatch(node.id) if isinstance(node, ast.Name) else None
    place = places.get(reference[1]) if reference is not None else None
    if place is None or depth > _DEEPEST:
        return None
    target = place[0].values[place[1]]
    home = written_in(target)
    if isinstance(target, ast.Constant):
        return _at_home(target, home) if home is not None else None
    return _referred_to(places, target, depth + 1)


def _expression(part: _Part, at: ast.AST) -> ast.Dict:
    keys: list[ast.expr | None] = [ast.copy_location(ast.Constant(value=name), at) for name in part.entries]
    entries = part.entries.values()
    values = [_expression(each, at) if isinstance(each, _Part) else each for each in entries]
    return ast.copy_location(ast.Dict(keys=keys, values=values), at)


def _unknown() -> ast.expr:
    return ast.Name(id="_unknown_", ctx=ast.Load(), lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)
