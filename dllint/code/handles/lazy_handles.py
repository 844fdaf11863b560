"""Handles that worker code opens on first use, and whether main is the first to use them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.handles import opened as handles
from dllint.code.handles.opened import Handle
from dllint.code.language import classes, conditions
from dllint.code.language.bindings import AttributeWrite
from dllint.code.language.scopes import FunctionScope, Scope, last_name
from dllint.code.language.values import Collection, Frame, Function, Instance
from dllint.code.loaders.loader import Loader
from dllint.code.workers import state
from dllint.code.workers.reach import Step, WorkerCode
from dllint.finding import Related
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.facts import WorkerEntry
    from dllint.code.program import Program

_GOES_THROUGH = frozenset({"list", "tuple", "iter", "enumerate", "sorted", "tqdm", "next"})
_ASKS_FOR_PROCESS = frozenset({"getpid", "get_worker_info", "current_process", "register_at_fork"})
_MOST_CALLERS = 4


@dataclass(frozen=True, slots=True)
class Lazy:
    """A handle that an object of the dataset opens where it has none yet, in whichever process that is."""

    handle: Handle
    write: AttributeWrite
    step: Step
    by_process: bool
    """Whether each process opens its own: `if self.pid != os.getpid()`."""


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
            stored = write.binding.value
            own = isinstance(write.target.value, ast.Name) and write.target.value.id == step.scope.receiver_name
            if not own or not isinstance(stored, ast.Call):
                continue
            handle = handles.opened_at(entry.program, stored, step.frame)
            if handle is None or _is_renewed(entry, write.name):
                continue
            by_process = _is_opened_by_process(step, write)
            lazy = not write.element and _is_lazy(step, write) and not _asks_for_process(entry, step)
            if by_process or (lazy and not _is_let_go(entry.program, write.name)):
                yield Lazy(handle, write, step, by_process)


def _is_lazy(step: Step, write: AttributeWrite) -> bool:
    """Whether it is opened only where the attribute has nothing, in any process."""
    places = list(step.hops(write.node))
    if any(state.is_conditional_on_process(place) for _, place in places):
        return False
    tests = _tests(step, write)
    if any("getpid" in test or "worker" in test or "pid" in test for test in tests):
        return False
    return any(write.name in test for test in tests)


def _asks_for_process(entry: WorkerEntry, step: Step) -> bool:
    """Whether worker code of the class asks which process it runs in: it may reset there what another has opened."""
    scopes = [at.scope for at in entry.code.steps if at.scope.owner is step.scope.owner]
    return any(last_name(call) in _ASKS_FOR_PROCESS for scope in scopes for call in scope.index().calls)


def _is_let_go(program: Program, attribute: str) -> bool:
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


def _is_opened_by_process(step: Step, write: AttributeWrite) -> bool:
    """Whether it is opened where this process has not opened it yet, main among them: `if self.pid != os.getpid()`."""
    tests = _tests(step, write)
    return any("getpid()" in test for test in tests) and not any("worker" in test or "parent" in test for test in tests)


def _tests(step: Step, write: AttributeWrite) -> list[str]:
    return [ast.unparse(test) for _, place in step.hops(write.node) for test, _ in conditions.leading_to(place)]


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
        for node, scope in _uses(entry, loader, opening):
            return Use(node, scope, loader)
    return None


def _is_read_in_order(loader: Loader) -> bool:
    """Whether no sampler asks for the length before the workers of the only pass over the loader have started."""
    return loader.option("persistent_workers").is_certainly(True) and not loader.option("shuffle").is_certainly(True)


def _opening_methods(program: Program, made: Instance, lazy: Lazy) -> set[str]:
    """The names of the dataset's methods that come to open the handle."""
    found = set()
    for base in classes.project_mro(program.evaluator, made.cls):
        for name, method in base.methods.items():
            code = WorkerCode(program, [Step(method, Frame(method, made), "")]) if name != "__init__" else None
            if code is not None and any(step.scope is lazy.step.scope for step in code.steps):
                found.add(name)
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
    for call in scope.calls:
        name = last_name(call.func)
        if isinstance(call.func, ast.Attribute) and name in opening:
            yield call, call.func.value
        elif (name == "len" and "__len__" in opening) or (name in _GOES_THROUGH and "__getitem__" in opening):
            yield from ((call, argument) for argument in call.args[:1])
