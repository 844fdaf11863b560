"""Handles that worker code opens on first use, and whether main is the first to use them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from dllint.code.handles import guards
from dllint.code.handles import opened as handles
from dllint.code.handles.opened import Handle
from dllint.code.language import classes
from dllint.code.language.bindings import AttributeWrite
from dllint.code.language.scopes import FunctionScope, Scope, last_name
from dllint.code.language.values import Collection, Frame, Function, Instance
from dllint.code.loaders.loader import Loader
from dllint.code.workers.reach import Step, WorkerCode
from dllint.finding import Related
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.facts import WorkerEntry
    from dllint.code.program import Program

_GOES_THROUGH = frozenset({"list", "tuple", "iter", "enumerate", "sorted", "tqdm", "next"})
_REMEMBERS = ("cached_property", "lru_cache", "cache")
"""Decorators by which a function runs once."""
_FORGETS = ("del", "delattr", "pop", "clear", "cache_clear", "__dict__")
"""Words beside such a function's name by which its result is let go of."""
_MOST_CALLERS = 4


@dataclass(frozen=True, slots=True)
class Lazy:
    """A handle that an object of the dataset opens where it has none yet, in whichever process that is."""

    handle: Handle
    attribute: str
    """Where it is kept: the attribute, or the function that remembers it."""
    step: Step
    by_process: bool
    """Whether each process opens its own: `if self.pid != os.getpid()`."""
    carried: bool = True
    """Whether it is kept on the dataset, and pickled with it."""


@dataclass(frozen=True, slots=True)
class Use:
    """Where main reads the dataset before its workers start, so that the handle is open when they do."""

    node: ast.AST
    scope: Scope
    loader: Loader

    def related(self) -> Related:
        """This place, for the way of a finding."""
        return Related("main opens it here, before the workers start", self.scope.module.location(self.node))


def opened(entry: WorkerEntry) -> Iterator[Lazy]:
    """The handles that worker code opens on first use, main's own included."""
    for step in entry.code.steps:
        if step.scope.name == "__init__" or step.root.label == "worker_init_fn":
            continue
        for write in step.scope.index().writes:
            own = isinstance(write.target.value, ast.Name) and write.target.value.id == step.scope.receiver_name
            for call in _calls_in(write.binding.value) if own else ():
                handle = _handle(entry, step, call)
                if handle is None or _is_renewed(entry, write.name):
                    continue
                at = write.node if call is write.binding.value else call
                by_process = _is_opened_by_process(entry, step, write, at)
                if by_process or (_is_lazy(entry, step, write, at) and not is_let_go(entry.program, write.name)):
                    yield Lazy(handle, write.name, step, by_process)
        yield from _remembered(entry, step)


def _calls_in(stored: ast.AST | None) -> Iterator[ast.Call]:
    """The calls whose result is stored: also of `self.file or open(path)`, `self.file if self.file else open(path)`."""
    parts: list[ast.expr] = []
    if isinstance(stored, ast.BoolOp) and isinstance(stored.op, ast.Or):
        parts = stored.values[1:]
    elif isinstance(stored, ast.IfExp):
        parts = [stored.body, stored.orelse]
    yield from (part for part in (stored, *parts) if isinstance(part, ast.Call))


def _handle(entry: WorkerEntry, step: Step, stored: ast.AST | None) -> Handle | None:
    return handles.opened_at(entry.program, stored, step.frame) if isinstance(stored, ast.Call) else None


def _is_opened_by_process(entry: WorkerEntry, step: Step, write: AttributeWrite, at: ast.AST) -> bool:
    if guards.is_opened_by_process(step, at):
        return not guards.is_shut_out(entry, step, at, write.name)
    return guards.is_opened_once(step, at, write.name) and guards.is_reset_by_fork(entry, step)


def _is_lazy(entry: WorkerEntry, step: Step, write: AttributeWrite, at: ast.AST) -> bool:
    """Whether the first process that needs it opens it for all."""
    if write.element:
        return False
    if guards.is_opened_by_process(step, at):
        return guards.is_shut_out(entry, step, at, write.name)
    return guards.is_opened_once(step, at, write.name) and not guards.asks_for_process(entry, step)


def _remembered(entry: WorkerEntry, step: Step) -> Iterator[Lazy]:
    """What a `cached_property` or a function under `lru_cache` opens, the same for all items."""
    name = step.scope.name
    kept = next((word for word in step.scope.decorators if word in _REMEMBERS), None)
    if kept is None or guards.asks_for_process(entry, step) or _is_forgotten(entry, step):
        return
    if kept != "cached_property" and not _is_same_for_all(entry, step):
        return
    for returned in step.scope.index().returns:
        handle = _handle(entry, step, returned.value) or _named(entry, step, returned.value)
        if handle is not None and not guards.is_for_some_process(step, returned):
            by_process = guards.is_reset_by_fork(entry, step)
            yield Lazy(handle, name, step, by_process, carried=kept == "cached_property")
            return


def _named(entry: WorkerEntry, step: Step, value: ast.expr | None) -> Handle | None:
    """The handle by the name that the function gives it."""
    return handles.opened_at(entry.program, value, step.frame) if isinstance(value, ast.Name) else None


def _is_same_for_all(entry: WorkerEntry, step: Step) -> bool:
    """Whether a function is given the same by each item, so that it opens once."""
    own = [p.arg for p in step.scope.parameters if p.arg != step.scope.receiver_name]
    return all(entry.variation.parameter(name, step) is False for name in own)


def _is_forgotten(entry: WorkerEntry, step: Step) -> bool:
    """Whether something lets go of what a function remembers: `del dataset.file`, `open_file.cache_clear()`."""
    name = step.scope.name
    for module in entry.program.modules_with(name):
        lines = set(module.lines_with(name))
        if any(lines.intersection(module.lines_with(word)) for word in _FORGETS):
            return True
    return is_let_go(entry.program, name)


def is_let_go(program: Program, attribute: str) -> bool:
    """Whether main sets the attribute back to None, itself or by a method that it calls."""
    for module in program.modules_with(f".{attribute} ="):
        for write, scope in module.writes_of(attribute):
            value = write.binding.value
            if isinstance(value, ast.Constant) and value.value is None and _is_run_by_main(program, scope):
                return True
    return False


def _is_run_by_main(program: Program, scope: Scope) -> bool:
    """Whether code outside of the class runs a function; what makes or sends an object is no such function."""
    owner = scope.owner if isinstance(scope, FunctionScope) else None
    if not isinstance(scope, FunctionScope) or owner is None:
        return True
    if scope.name.startswith("__"):
        return False
    callers = (caller.scope for _, caller in program.call_sites(scope))
    return any(not isinstance(at, FunctionScope) or at.owner is not owner for at in callers)


def _is_renewed(entry: WorkerEntry, attribute: str) -> bool:
    """Whether a worker_init_fn lets go of what main has opened."""
    starting = (step for step in entry.code.steps if step.root.label == "worker_init_fn")
    return any(write.name == attribute for step in starting for write in step.scope.index().writes)


def used_by_main(entry: WorkerEntry, lazy: Lazy) -> Use | None:
    """The first place found where main reads the dataset in a way that opens the handle."""
    dataset = entry.dataset
    if dataset is None:
        return None
    opening = _opening_methods(entry.program, Instance(dataset.cls), lazy)
    for loader in dataset.working_loaders:
        if not loader.speaks_of_workers:
            continue
        if "__len__" in opening and not _is_read_in_order(loader):
            return Use(loader.call, loader.frame.scope, loader)
        for node, scope in chain(_uses(entry, loader, opening), _direct(entry, loader, lazy.step.scope)):
            return Use(node, scope, loader)
    return None


def _is_read_in_order(loader: Loader) -> bool:
    """Whether no sampler asks for the length before the workers of the only pass over the loader have started."""
    return loader.option("persistent_workers").is_certainly(True) and not loader.option("shuffle").is_certainly(True)


def _opening_methods(program: Program, made: Instance, lazy: Lazy) -> set[str]:
    """The names of the dataset's methods that come to open the handle; those of properties begin with a dot."""
    found = set()
    for base in classes.project_mro(program.evaluator, made.cls):
        for name, method in base.methods.items():
            code = WorkerCode(program, [Step(method, Frame(method, made), "")]) if name != "__init__" else None
            if code is not None and any(step.scope is lazy.step.scope for step in code.steps):
                found.add(f".{name}" if method.is_property else name)
    return found


def _uses(entry: WorkerEntry, loader: Loader, opening: set[str]) -> Iterator[tuple[ast.AST, Scope]]:
    """The places before the loader starts that read the dataset, in its function and in those that call it."""
    made = {value.key for value in entry.dataset.instances} if entry.dataset is not None else set()
    frame: Frame | None = loader.frame
    limit: ast.AST = _first_iteration(loader)
    for _ in range(_MOST_CALLERS):
        if frame is None:
            return
        for node, base in _readings(frame.scope.index(), opening):
            before = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)) < _start(limit)
            if before and _is_one_of(entry.program, base, frame, made):
                yield node, frame.scope
        for call in _handing(entry.program, frame, made, opening):
            if _start(call) < _start(limit):
                yield call, frame.scope
        if frame.call is None:
            return
        limit, frame = frame.call, frame.caller


def _direct(entry: WorkerEntry, loader: Loader, opening: FunctionScope) -> Iterator[tuple[ast.AST, Scope]]:
    """The calls of the function that opens, by main before the loader starts: also when the dataset is made."""
    if entry.dataset is None or opening.owner is not None:
        return
    making = [base.methods.get("__init__") for base in classes.project_mro(entry.program.evaluator, entry.dataset.cls)]
    limits = _limits(entry.program, loader)
    for call, caller in entry.program.call_sites(opening):
        scope = caller.scope
        if scope in making or (scope in limits and _start(call) < limits[scope]):
            yield call, scope


def _limits(program: Program, loader: Loader) -> dict[Scope, tuple[int, int]]:
    """The functions that lead to a loader, each with the place at which it starts the workers."""
    found: dict[Scope, tuple[int, int]] = {loader.frame.scope: _start(_first_iteration(loader))}
    pending: list[Scope] = [loader.frame.scope]
    for scope in pending:
        for call, caller in program.call_sites(scope) if isinstance(scope, FunctionScope) else ():
            if caller.scope not in found and len(found) < _MOST_CALLERS:
                found[caller.scope] = _start(call)
                pending.append(caller.scope)
    return found


def _is_one_of(program: Program, node: ast.AST, frame: Frame, made: set[tuple[object, ...]]) -> bool:
    """Whether an expression is one of these objects, and not perhaps a list with them."""
    found = program.evaluator.values(node, frame)
    return any(value.key in made for value in found) and not any(isinstance(value, Collection) for value in found)


def _handing(program: Program, frame: Frame, made: set[tuple[object, ...]], opening: set[str]) -> Iterator[ast.Call]:
    """The calls that hand the dataset to a function of the project which reads it: `show(dataset, 3)`."""
    for call in frame.scope.calls:
        given = [argument for argument in call.args if isinstance(argument, (ast.Name, ast.Attribute))]
        if not any(_is_one_of(program, argument, frame, made) for argument in given):
            continue
        for function in program.evaluator.values(call.func, frame):
            if isinstance(function, Function) and not function.scope.is_generator:
                inner = Frame(function.scope, function.receiver, call, frame, function.outer)
                read = (base for _, base in _readings(function.scope.index(), opening))
                if any(_is_one_of(program, base, inner, made) for base in read):
                    yield call


def _first_iteration(loader: Loader) -> ast.AST:
    """The first pass over the loader in its own function; its construction, if there is none."""
    passes = loader.program.facts.iterations_of(loader)
    own = [found.node for found in passes if found.frame.scope is loader.frame.scope]
    return min((node for node in own if hasattr(node, "lineno")), key=_start, default=loader.call)


def _start(node: ast.AST) -> tuple[int, int]:
    return (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))


def _readings(scope: Scope, opening: set[str]) -> Iterator[tuple[ast.AST, ast.expr]]:
    """What a function reads by protocol or by method, each with the expression of the object that it reads."""
    if "__getitem__" in opening:
        yield from ((node, node.value) for node in scope.subscripts if isinstance(node.ctx, ast.Load))
        yield from ((loop.iter, loop.iter) for loop in scope.loops)
    yield from ((node, node.value) for node in scope.attributes if f".{node.attr}" in opening)
    for call in scope.calls:
        name = last_name(call.func)
        if isinstance(call.func, ast.Attribute) and name in opening:
            yield call, call.func.value
        elif (name == "len" and "__len__" in opening) or (name in _GOES_THROUGH and "__getitem__" in opening):
            yield from ((call, argument) for argument in call.args[:1])
