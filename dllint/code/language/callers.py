"""Who calls a function: the calls in a project that enter it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Generic, TypeVar

from dllint.code.language import classes
from dllint.code.language.bindings import Binding
from dllint.code.language.libcalls import merged_call
from dllint.code.language.modules import Module
from dllint.code.language.outlines import occurrences
from dllint.code.language.scopes import ClassScope, FunctionScope, Scope, last_name
from dllint.code.language.values import ClassRef, Frame, Function, Instance, Partial, Super, Value
from dllint.patterns import pattern

if TYPE_CHECKING:
    from dllint.code.program import Program

_SMALL = 2_000_000
"""Bytes of Python in a project that can be searched for every function."""
_MOST_CALL_SITES = 24
"""Calls of one function that are looked at."""
_MOST_GENERATIONS = 3
"""Classes without an `__init__` of their own, one deriving from the next."""
_NEAR = 120
"""Bytes around a name that tell whether it is given another."""
_ASSIGNED = pattern(rb"=[ \t]*(?:\w{1,60}\.){0,6}\Z")
_IN_PARTIAL = pattern(rb"\bpartial\(\s*(?:\w{1,60}\.){0,6}\Z")

_T = TypeVar("_T")
_Call = tuple[ast.Call, Scope]


class Callers:
    """The calls of one program's functions, each function's found once."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[Scope, list[tuple[ast.Call, Frame]]] = {}
        self._near_homes: dict[tuple[bytes, ...], frozenset[Module]] = {}
        self._calling: dict[tuple[str, bool, bool, frozenset[Module]], _Once[tuple[Module, list[_Call]]]] = {}

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
        is_sought = makes or scope in self._program.facts.building_scopes
        for checked, (call, around) in enumerate(self._calls_of(scope, name, is_sought)):
            if checked == _MOST_CALL_SITES:
                return
            frame = Frame(around)
            entering = self._entering(call, frame, scope, owner if makes else None)
            if entering is not None:
                yield entering, frame
        if makes and owner is not None:
            yield from self._of_receiver(owner)
            yield from self._super_calls(scope, owner)

    def _calls_of(self, scope: FunctionScope, name: str, is_sought: bool) -> Iterator[_Call]:
        """The calls of a function's name: those in its own module first; tests never speak for a library."""
        own = scope.module
        yield from _calls_in(own, name, is_sought)
        for module, calls in self._calls_anywhere(name, is_sought, own.is_test, self._near(scope)):
            if module is not own:
                yield from calls

    def _calls_anywhere(
        self, name: str, is_sought: bool, in_tests: bool, near: frozenset[Module]
    ) -> Iterator[tuple[Module, list[_Call]]]:
        """The modules that call a name, with their calls: searched once for all functions that have the name."""
        key = name, is_sought, in_tests, near
        if key not in self._calling:
            mentioned = self._program.mentions.of(name.encode())
            modules = (m for m in mentioned if m in near and (in_tests or not m.is_test))
            found = ((module, list(_calls_in(module, name, is_sought))) for module in modules)
            self._calling[key] = _Once(item for item in found if item[1])
        return iter(self._calling[key])

    def _near(self, scope: FunctionScope) -> frozenset[Module]:
        """The modules whose calls of a function matter: the seeds, all of a small project, and of a large one those
        that name the function's module or class."""
        if not self._is_called_anywhere(scope):
            return self._seeds
        if self._is_small:
            return self._all
        homes = (scope.module.last_name, *((scope.owner.name.encode(),) if scope.owner is not None else ()))
        if homes not in self._near_homes:
            self._near_homes[homes] = self._seeds.union(*map(self._program.mentions.of, homes))
        return self._near_homes[homes]

    @cached_property
    def _seeds(self) -> frozenset[Module]:
        return frozenset(self._program.seeds)

    @cached_property
    def _all(self) -> frozenset[Module]:
        return frozenset(self._program.modules.by_file.values())

    def _is_called_anywhere(self, scope: FunctionScope) -> bool:
        """Whether calls of a function matter wherever they stand: it builds a loader or a dataset."""
        owner = scope.owner
        makes = scope.name == "__init__" and owner is not None and owner.name in self._program.dataset_names
        return self._is_small or makes or scope in self._program.facts.building_scopes

    @cached_property
    def _is_small(self) -> bool:
        return sum(module.outline.size for module in self._all) < _SMALL

    def _entering(
        self, call: ast.Call, frame: Frame, scope: FunctionScope, makes: ClassScope | None
    ) -> ast.Call | None:
        """The call with which a function is entered: of a partial with what that holds; None where it is another's."""
        if self._enters(call, frame, scope, makes):
            return call
        partial = next((v for v in self._program.evaluator.infer(call.func, frame) if isinstance(v, Partial)), None)
        entering = call
        while partial is not None:
            entering, target = merged_call(partial, entering), partial.target
            if _is_of(target, scope, makes):
                return entering
            partial = target if isinstance(target, Partial) else None
        return None

    def _enters(self, call: ast.Call, frame: Frame, scope: FunctionScope, makes: ClassScope | None) -> bool:
        return any(_is_of(value, scope, makes) for value in self._program.evaluator.infer(call.func, frame))

    def _super_calls(self, scope: FunctionScope, owner: ClassScope, depth: int = 0) -> Iterator[tuple[ast.Call, Frame]]:
        """`super().__init__(...)` and `Base.__init__(self, ...)` in the classes that derive from `owner`."""
        for cls in self.subclasses(owner):
            own = cls.methods.get(scope.name)
            if own is not None:
                yield from self._onward(scope, own, Frame(own))
            elif classes.method(self._program.evaluator, cls, scope.name) is scope:
                yield from self._makes(scope, cls)
                yield from self._of_receiver(cls)
                yield from self._super_calls(scope, cls, depth + 1) if depth < _MOST_GENERATIONS else ()
            yield from self._through_mixins(scope, owner, cls)

    def _makes(self, scope: FunctionScope, cls: ClassScope) -> Iterator[tuple[ast.Call, Frame]]:
        """The calls of a class that has the `__init__` of a base."""
        for call, around in self._calls_of(scope, cls.name, is_sought=False):
            frame = Frame(around)
            if self._enters(call, frame, scope, cls):
                yield call, frame

    def _through_mixins(
        self, scope: FunctionScope, owner: ClassScope, cls: ClassScope
    ) -> Iterator[tuple[ast.Call, Frame]]:
        """What classes beside `owner` call by `super().__init__(...)`, where one derives from them first."""
        ev = self._program.evaluator
        for base in classes.project_mro(ev, cls):
            if base is owner:
                return
            own = base.methods.get(scope.name)
            if own is not None and owner not in classes.project_mro(ev, base):
                yield from self._onward(scope, own, Frame(own, Instance(cls)))

    def _onward(self, scope: FunctionScope, own: FunctionScope, frame: Frame) -> Iterator[tuple[ast.Call, Frame]]:
        """The calls in one `__init__` that enter the next."""
        for call in own.index().calls_of(scope.name):
            holders = (
                self._program.evaluator.infer(call.func.value, frame) if isinstance(call.func, ast.Attribute) else ()
            )
            if any(isinstance(h, (Super, ClassRef)) for h in holders) and self._enters(call, frame, scope, None):
                yield call, frame

    def _of_receiver(self, owner: ClassScope) -> Iterator[tuple[ast.Call, Frame]]:
        """`cls(...)` in the class methods of a class and of its bases."""
        for base in classes.project_mro(self._program.evaluator, owner):
            for made in base.methods.values():
                if "classmethod" in made.decorators and made.receiver_name is not None:
                    frame = Frame(made, ClassRef(owner))
                    calls = made.index().calls_of(made.receiver_name)
                    yield from ((call, frame) for call in calls if isinstance(call.func, ast.Name))

    def subclasses(self, cls: ClassScope) -> list[ClassScope]:
        """The classes that derive from `cls` directly."""
        ev = self._program.evaluator
        found = []
        for module, name in self._by_base.get(cls.name, ()):
            found += [c for c in module.classes if c.name == name and cls in classes.bases(ev, c)]
        return found

    @cached_property
    def _by_base(self) -> dict[str, list[tuple[Module, str]]]:
        """The classes that name a base of this name: in the seeds, and anywhere in a small project."""
        found: dict[str, list[tuple[Module, str]]] = {}
        for module in self._program.modules.by_file.values() if self._is_small else self._program.seeds:
            for name, base_names in module.class_bases:
                for base in base_names:
                    found.setdefault(base, []).append((module, name))
        return found


class _Once(Generic[_T]):
    """What a generator yields, kept for whoever asks next: none of it is made before it is asked for, or twice."""

    def __init__(self, found: Iterator[_T]) -> None:
        self._found = found
        self._kept: list[_T] = []

    def __iter__(self) -> Iterator[_T]:
        at = 0
        while True:
            if at == len(self._kept):
                self._kept.extend(islice(self._found, 1))
            if at == len(self._kept):
                return
            yield self._kept[at]
            at += 1


def _calls_in(module: Module, name: str, is_sought: bool) -> Iterator[_Call]:
    """The calls of a name in a module; of what is sought by any name also those by an attribute that is nothing
    else, or by a partial of it: `self.build = build_loader`, `build = partial(build_loader, train=True)`."""
    yield from module.calls_of(name)
    if not is_sought or not _may_be_renamed(name.encode(), module.data):
        return
    known = {name, *module.other_names(name)}
    for scope in module.scopes_with(name):
        for alias, bindings in scope.index().bindings.items():
            if alias not in known and any(_is_just(binding, name) for binding in bindings):
                yield from ((call, scope) for call in scope.index().calls_of(alias))
        for write in scope.writes:
            if write.name != name and not write.element and _is_just(write.binding, name):
                yield from module.calls_of(write.name)


def _is_of(value: Value, scope: FunctionScope, makes: ClassScope | None) -> bool:
    """Whether a value is a function, or the class that this makes objects of."""
    if isinstance(value, Function):
        return value.scope is scope
    return makes is not None and isinstance(value, ClassRef) and value.cls is makes


def _may_be_renamed(name: bytes, data: bytes) -> bool:
    """Whether a module may give a function or class another name, by the bytes around its own: `Exp = Exp_Main`."""
    for at in occurrences(data, name):
        before, behind = data[max(0, at - _NEAR) : at], data[at + len(name) : at + len(name) + _NEAR]
        if _IN_PARTIAL.search(before) or (_ASSIGNED.search(before) and not behind.partition(b"\n")[0].strip()):
            return True
    return False


def _is_just(binding: Binding, name: str) -> bool:
    """Whether a variable is another name of it, or a partial of it."""
    value = binding.value
    if isinstance(value, ast.Call) and last_name(value.func) == "partial" and value.args:
        value = value.args[0]
    return binding.kind == "assign" and isinstance(value, (ast.Name, ast.Attribute)) and last_name(value) == name
