"""Who calls a function: the calls in a project that enter it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.code.language import classes
from dllint.code.language.modules import Module
from dllint.code.language.scopes import ClassScope, FunctionScope, Scope
from dllint.code.language.values import ClassRef, Frame, Function, Super

if TYPE_CHECKING:
    from dllint.code.program import Program

_SMALL = 2_000_000
"""Bytes of Python in a project that can be searched for every function."""
_MOST_CALL_SITES = 24
"""Calls of one function that are looked at."""


class Callers:
    """The calls of one program's functions, each function's found once."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[Scope, list[tuple[ast.Call, Frame]]] = {}
        self._holders: dict[tuple[bytes, bool], list[Module]] = {}

    def of(self, scope: FunctionScope) -> list[tuple[ast.Call, Frame]]:
        """The calls in the project that enter a function, each with the frame that it is made in."""
        if scope not in self._known:
            self._known[scope] = []  # what a cycle sees
            self._known[scope] = list(self._find_call_sites(scope))
        return self._known[scope]

    def _find_call_sites(self, scope: FunctionScope) -> Iterator[tuple[ast.Call, Frame]]:
        if isinstance(scope.node, ast.Lambda):
            return
        owner = scope.owner
        makes = owner is not None and scope.name in ("__init__", "__new__")
        name = owner.name if makes and owner is not None else scope.name
        checked = 0
        for module in self._callers_of(scope, name):
            for call, around in module.calls_of(name):
                checked += 1
                if checked > _MOST_CALL_SITES:
                    return
                frame = Frame(around)
                if self._enters(call, frame, scope, owner if makes else None):
                    yield call, frame
        if makes and owner is not None:
            yield from self._super_calls(scope, owner)

    def _callers_of(self, scope: FunctionScope, name: str) -> Iterator[Module]:
        """The modules to look for callers in: the function's own first; tests never speak for a library."""
        own = scope.module
        needle = name.encode()
        yield own
        homes = self._names_of_home(scope)
        for module in self._holding(needle, everywhere=self._is_called_anywhere(scope)):
            if module is own or (module.is_test and not own.is_test):
                continue
            if id(module) in self._seed_ids or self._is_small or any(map(module.holds, homes)):
                yield module

    @staticmethod
    def _names_of_home(scope: FunctionScope) -> tuple[bytes, ...]:
        """What a module far from the seeds must speak of to call a function: its module, or its class."""
        owner = scope.owner
        return (scope.module.last_name, *((owner.name.encode(),) if owner is not None else ()))

    @cached_property
    def _seed_ids(self) -> set[int]:
        return {id(module) for module in self._program.seeds}

    def _is_called_anywhere(self, scope: FunctionScope) -> bool:
        """Whether calls of a function matter wherever they stand: it builds a loader or a dataset."""
        owner = scope.owner
        makes = scope.name == "__init__" and owner is not None and owner.name in self._program.dataset_names
        return self._is_small or makes or scope in self._program.facts.building_scopes

    def _holding(self, needle: bytes, *, everywhere: bool) -> list[Module]:
        """The modules, or only the seeds, whose text holds a name."""
        key = (needle, everywhere)
        if key not in self._holders:
            found = [module for module in self._program.seeds if module.holds(needle)]
            if everywhere:
                known = {id(module) for module in found}
                modules = self._program.modules.by_file.values()
                found = [m for m in modules if id(m) in known or (id(m) not in self._seed_ids and m.holds(needle))]
            self._holders[key] = found
        return self._holders[key]

    @cached_property
    def _is_small(self) -> bool:
        return sum(module.outline.size for module in self._program.modules.by_file.values()) < _SMALL

    def _enters(self, call: ast.Call, frame: Frame, scope: FunctionScope, makes: ClassScope | None) -> bool:
        for value in self._program.evaluator.infer(call.func, frame):
            if isinstance(value, Function) and value.scope is scope:
                return True
            if makes is not None and isinstance(value, ClassRef) and value.cls is makes:
                return True
        return False

    def _super_calls(self, scope: FunctionScope, owner: ClassScope) -> Iterator[tuple[ast.Call, Frame]]:
        """`super().__init__(...)` and `Base.__init__(self, ...)` in the classes that derive from `owner`."""
        for cls in self._subclasses(owner):
            own = cls.methods.get(scope.name)
            if own is None:
                for module in self._callers_of(scope, cls.name):
                    for call, around in module.calls_of(cls.name):
                        frame = Frame(around)
                        if self._enters(call, frame, scope, cls):
                            yield call, frame
                continue
            for call in own.index().calls:
                function = call.func
                if isinstance(function, ast.Attribute) and function.attr == scope.name:
                    frame = Frame(own)
                    holders = self._program.evaluator.infer(function.value, frame)
                    if any(isinstance(h, Super) for h in holders) and self._enters(call, frame, scope, None):
                        yield call, frame

    def _subclasses(self, cls: ClassScope) -> list[ClassScope]:
        """The classes of the seeds that derive from `cls` directly."""
        ev = self._program.evaluator
        found = []
        for module in self._program.seeds:
            for name, base_names in module.class_bases:
                if cls.name in base_names:
                    found += [c for c in module.classes if c.name == name and cls in classes.bases(ev, c)]
        return found
