"""Code that runs in a process which may have no children, and what in it starts processes.

A DataLoader worker is a daemon, and so is each process of a multiprocessing pool: `daemonic processes are not allowed
to have children`. Processes of an executor are none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.facts import WorkerEntry
from dllint.code.language import conditions, folding
from dllint.code.language.scopes import Scope
from dllint.code.language.values import Derived, Frame, Product, Value
from dllint.code.loaders.loader import Loader
from dllint.code.processes import pools
from dllint.code.processes.pools import Mapped
from dllint.code.workers import uses
from dllint.code.workers.reach import Step, WorkerCode, is_main_only
from dllint.code.workers.ways import is_off_the_way
from dllint.finding import Location, Related
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

_METHODS = frozenset({"start", "Pool", "Manager", "ProcessPoolExecutor"})
_ASKS_WHO_RUNS = ("daemon", "current_process", "parent_process", "MainProcess")


@dataclass(frozen=True, slots=True)
class Start:
    """A place that starts a process where that is refused."""

    what: str
    location: Location
    error: str
    way: tuple[Related, ...]
    symbol: str


class Childless:
    """Code of a process that may have no children: a worker's, or that of a function mapped over a pool."""

    def __init__(self, program: Program, path: str, entry: WorkerEntry | None, mapped: Mapped | None) -> None:
        self.program = program
        self.path = path
        self.entry = entry
        self.mapped = mapped

    def starts(self) -> Iterator[Start]:
        """What it starts: in a worker any process, in a pool the workers of loaders."""
        if self.entry is not None and self.entry.start_methods:
            yield from _in_worker(self.entry)
        if self.mapped is not None:
            yield from _in_pool(self.program, self.mapped)

    @property
    def is_worker(self) -> bool:
        """Whether it is a DataLoader worker that runs the code."""
        return self.entry is not None


def find(program: Program) -> Iterator[Childless]:
    """All code of a program that may start no process."""
    for entry in program.facts.worker_entries:
        yield Childless(program, entry.path, entry, None)
    if any(loader.has_workers for loader in program.facts.loaders):
        for mapped in pools.find(program):
            yield Childless(program, mapped.module.path, None, mapped)


# In a worker


def _in_worker(entry: WorkerEntry) -> Iterator[Start]:
    for step, call, name in uses.in_worker(entry.code, apis.STARTS_PROCESSES):
        yield from _start(entry, step, call, f"{name}()")
    for step in entry.code.steps:
        for call in step.scope.index().calls:
            if isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS:
                for value in entry.program.evaluator.values(call.func, step.frame):
                    if _starts(entry.program, value) and not is_main_only(entry.program, call, step.frame):
                        yield from _start(entry, step, call, f".{call.func.attr}()")
        for loader in _built_in(entry.program, step.scope):
            if not is_main_only(entry.program, loader.call, step.frame):
                yield from _start(entry, step, loader.call, f"a loader with {loader.describe_workers()}")


def _start(entry: WorkerEntry, step: Step, node: ast.AST, what: str) -> Iterator[Start]:
    if _is_ruled_out(entry.program, node, step.frame) or not uses.runs_in_worker_only(step):
        return
    if is_off_the_way(entry.program, step, node):
        return
    way = tuple(entry.way(step))
    yield Start(what, step.scope.module.location(node), pools.DAEMON_ERROR, way, step.scope.qualname)


def _starts(program: Program, value: Value) -> bool:
    """Whether calling a method starts a process: `process.start()`, `context.Pool()`."""
    if not isinstance(value, Derived):
        return False
    if value.via == ".start":
        return pools.is_process(program, value.base)
    return value.via[1:] in _METHODS and isinstance(value.base, Product) and value.base.name in apis.CONTEXTS


def _is_ruled_out(program: Program, node: ast.AST, frame: Frame) -> bool:
    """Whether a condition keeps a node from running here, or asks which process this is."""
    for test, outcome in conditions.leading_to(node):
        text = ast.unparse(test)
        if any(word in text for word in _ASKS_WHO_RUNS):
            return True
        if not _is_first_use(test) and folding.verdict(program.evaluator, test, frame) is (not outcome):
            return True
    return False


def _is_first_use(test: ast.expr) -> bool:
    """`if self.pool is None:`, `if not self.pool:` - true before the statement that makes it, whatever that makes."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return isinstance(test.operand, ast.Attribute)
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Is, ast.IsNot))


def _built_in(program: Program, scope: Scope) -> list[Loader]:
    """The loaders with workers that a function builds."""
    if scope not in program.facts.building_scopes:
        return []
    return [loader for loader in program.facts.loaders if loader.frame.scope is scope and loader.has_workers]


# In a pool


def _in_pool(program: Program, mapped: Mapped) -> Iterator[Start]:
    for step in WorkerCode(program, mapped.functions).steps:
        for loader in _built_in(program, step.scope):
            if mapped.error is pools.LOKY_ERROR and "multiprocessing_context" in loader.arguments:
                continue
            if _is_ruled_out(program, loader.call, loader.frame):
                continue
            way = (Related(f"run in the processes of {mapped.pool} here", mapped.module.location(mapped.call)),)
            what = f"a loader with {loader.describe_workers()}"
            yield Start(what, loader.location, mapped.error, (*way, *step.way()[1:]), loader.symbol)
