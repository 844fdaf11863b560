"""What workers write into their own copies, and where the main process reads it back, in vain."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, TypeGuard

from dllint.code.facts import WorkerEntry
from dllint.code.language import classes
from dllint.code.language.links import parent, scope_of
from dllint.code.language.modules import Module
from dllint.code.language.scopes import FunctionScope, Scope
from dllint.code.language.values import Derived, Frame, ModuleRef, Value
from dllint.code.loaders import finding as loaders
from dllint.code.workers.worker_writes import Carried, Write, carried_objects, is_shared, writes
from dllint.finding import Location
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

_CHANGES = frozenset(
    ("append", "add", "extend", "insert", "update", "clear", "setdefault", "pop", "popleft", "appendleft", "remove")
)
"""Methods that change a container: calling one reads nothing back."""
_MOST_CALLERS = 3
"""Calls by which the function that makes a loader is reached."""


@dataclass(frozen=True, slots=True)
class Read:
    """Where the main process reads it back."""

    node: ast.AST
    module: Module

    @property
    def location(self) -> Location:
        """Where it stands."""
        return self.module.location(self.node)


def lost(entry: WorkerEntry) -> Iterator[tuple[Write, Read]]:
    """The writes of workers that main reads back: the first of each attribute and of each global."""
    if not _runs_in_workers(entry):
        return
    carried = carried_objects(entry)
    done: set[tuple[object, str]] = set()
    for write in writes(entry, carried):
        key = (write.owner, write.name)
        if key in done or is_shared(entry.program, write):
            continue
        done.add(key)
        search = _Search(entry, write, carried)
        read = next((r for r in search.reads() if not _comes_before(entry, r)), None)
        if read is not None:
            yield write, read


def _runs_in_workers(entry: WorkerEntry) -> bool:
    """Whether workers run it, and main does not run it too by a loader without any."""
    if entry.dataset is not None and any(loader.defaults_to_no_workers for loader in entry.dataset.loaders):
        return False
    return bool(entry.start_methods) and any(not loader.defaults_to_no_workers for loader in entry.loaders)


class _Search:
    """The search for what main reads of one write."""

    def __init__(self, entry: WorkerEntry, write: Write, carried: Carried) -> None:
        self.entry = entry
        self.program = entry.program
        self.write = write
        self.carried = carried
        self.inside: set[Scope] = {step.scope for step in entry.code.steps}

    def reads(self) -> Iterator[Read]:
        """The reads in functions that belong to main."""
        found = self._of_attribute() if self.write.owner is not None else self._of_global()
        yield from (read for read in found if self._is_main(scope_of(read.node)))

    @cached_property
    def _main(self) -> set[Scope]:
        """The functions that make the loaders, and those that lead there."""
        found: set[Scope] = set()
        pending = [(scope_of(loader.construction), 0) for loader in self.entry.loaders]
        while pending:
            scope, depth = pending.pop()
            if scope in found or scope in self.inside or depth > _MOST_CALLERS:
                continue
            found.add(scope)
            if isinstance(scope, FunctionScope):
                pending += [(frame.scope, depth + 1) for _, frame in self.program.call_sites(scope)]
        return found

    def _is_main(self, scope: Scope) -> bool:
        """Whether a function is one of these, is called by one, or is a method beside one."""
        if scope in self._main:
            return True
        if not isinstance(scope, FunctionScope):
            return False
        owner = scope.owner
        if owner is not None and any(isinstance(m, FunctionScope) and m.owner is owner for m in self._main):
            return True
        return any(frame.scope in self._main for _, frame in self.program.call_sites(scope))

    def _of_attribute(self) -> Iterator[Read]:
        for module in self.program.modules_with(self.write.name):
            if module.is_test and not self.write.step.scope.module.is_test:
                continue
            for scope in module.scopes_with(self.write.name):
                if scope not in self.inside and scope.name != "__init__":
                    attributes = (node for node in scope.index().attributes if node.attr == self.write.name)
                    plain = ((node, node.value) for node in attributes if _is_read(node))
                    named = chain(plain, _by_getattr(module, scope, self.write.name))
                    yield from (Read(node, module) for node, holder in named if self._reads(holder, scope))

    def _reads(self, holder: ast.expr, scope: Scope) -> bool:
        """Whether the object whose attribute main code reads is one which workers have a copy of."""
        receiver = scope.receiver_name if isinstance(scope, FunctionScope) else None
        if receiver is not None and isinstance(holder, ast.Name) and holder.id == receiver:
            return self._reads_its_own(scope)
        if _indexes(self.program, scope, self.carried):
            return False
        return any(value.key in self.carried for value in _objects(self.program, holder, Frame(scope)))

    def _reads_its_own(self, scope: Scope) -> bool:
        """Whether a method that reads its own attribute is called in main on such an object."""
        owner = self.write.owner
        if not isinstance(scope, FunctionScope) or scope.owner is None or owner is None:
            return False
        if scope.owner not in classes.mro(self.program.evaluator, owner):
            return False
        if any(w.name == self.write.name and not w.element for w in scope.writes):
            return False
        for call, frame in self.program.call_sites(scope):
            if frame.scope in self.inside or not isinstance(call.func, ast.Attribute):
                continue
            if any(value.key in self.carried for value in _objects(self.program, call.func.value, frame)):
                return not _indexes(self.program, frame.scope, self.carried)
        return False

    def _of_global(self) -> Iterator[Read]:
        own, name = self.write.step.scope.module, self.write.name
        for module in self.program.importers(own):
            lines = module.lines_with(name)
            if not lines or (module is not own and module.is_test):
                continue
            module.scopes_around(lines)  # links the nodes that are looked at
            is_global = self._is_own if module is own else self._is_imported
            for node in ast.walk(module.scope.node):
                if _is_named(node, name) and _is_read(node):
                    scope = scope_of(node)
                    if scope not in self.inside and is_global(node, scope):
                        yield Read(node, module)

    def _is_own(self, node: ast.expr, scope: Scope) -> bool:
        """Whether a name in the module of the global means the global."""
        is_local = isinstance(scope, FunctionScope) and self.write.name in scope.bindings
        return isinstance(node, ast.Name) and not is_local

    def _is_imported(self, node: ast.expr, scope: Scope) -> bool:
        """Whether another module means the global: `stats.SEEN`, or a container by `from stats import SEEN`."""
        own = self.write.step.scope.module
        if isinstance(node, ast.Attribute):
            return ModuleRef(own).key in {v.key for v in self.program.evaluator.values(node.value, Frame(scope))}
        if isinstance(self.write.node, ast.AugAssign):
            return False  # a number that was imported is the one from before
        meant = {value.key for value in self.program.members.of(own, self.write.name)}
        return any(value.key in meant for value in self.program.evaluator.values(node, Frame(scope)))


def _by_getattr(module: Module, scope: Scope, name: str) -> Iterator[tuple[ast.expr, ast.expr]]:
    """`getattr(dataset, "name")`, each with the object."""
    for known in ("getattr", *module.other_names("getattr")):
        for call in scope.calls_of(known):
            asked = call.args[1] if len(call.args) > 1 else None
            if isinstance(asked, ast.Constant) and asked.value == name:
                yield call, call.args[0]


def _is_named(node: ast.AST, name: str) -> TypeGuard[ast.Name | ast.Attribute]:
    if isinstance(node, ast.Name):
        return node.id == name
    return isinstance(node, ast.Attribute) and node.attr == name


def _objects(program: Program, node: ast.expr, frame: Frame) -> Iterator[Value]:
    """What an expression is; `loader.dataset` is the dataset of the loader."""
    for value in program.evaluator.values(node, frame):
        if isinstance(value, Derived) and value.via == ".dataset" and loaders.is_loader(program, value.base):
            for loader in program.facts.loaders_made_by(value.base):
                yield from loader.dataset_values()
        else:
            yield value


def _indexes(program: Program, scope: Scope, carried: Carried) -> bool:
    """Whether a function takes samples itself, and so makes writes that it can read: `dataset[0]`."""
    taken = [s.value for s in scope.subscripts if isinstance(s.ctx, ast.Load) and isinstance(s.value, ast.Name)]
    return any(value.key in carried for node in taken for value in program.evaluator.values(node, Frame(scope)))


def _is_read(node: ast.AST) -> bool:
    """Whether a node is read, not emptied, filled or replaced."""
    if not isinstance(getattr(node, "ctx", None), ast.Load):
        return False
    around = parent(node)
    if isinstance(around, ast.Subscript) and not isinstance(around.ctx, ast.Load):
        return False
    if isinstance(around, ast.Attribute) and around.attr in _CHANGES:
        return not isinstance(parent(around), ast.Call)
    return True


def _comes_before(entry: WorkerEntry, read: Read) -> bool:
    """Whether main reads before the loader is made, in the same function."""
    scope = scope_of(read.node)
    made = [loader.construction for loader in entry.loaders if scope_of(loader.construction) is scope]
    line = getattr(read.node, "lineno", 0)
    return bool(made) and all(getattr(node, "lineno", 0) > line for node in made)
