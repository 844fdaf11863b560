"""Scripts: what runs at module level when a file is started, and which of it starts worker processes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language import classes, conditions, settled
from dllint.code.language.callables import callable_method
from dllint.code.language.links import parent
from dllint.code.language.modules import Module
from dllint.code.language.scopes import FunctionScope, Scope, dotted, last_name, origin_name
from dllint.code.language.values import ClassRef, Derived, External, Frame, Function, Instance, Product, Value
from dllint.code.loaders import iterations, ultralytics
from dllint.code.loaders.loader import Loader
from dllint.code.workers.reach import Step, WorkerCode
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

_STARTERS = frozenset({"torch.multiprocessing.spawn", "torch.multiprocessing.start_processes"})
_TRAINING_METHODS = frozenset({".fit", ".train", ".validate", ".test", ".predict", ".evaluate"})
_DEEPEST = 3
"""Calls from module level that are followed: `main()`, `trainer.run()`, `self.epoch()`."""
_AT_ONCE = frozenset(f"builtins.{name}" for name in ("iter", "list", "tuple", "sorted", "enumerate", "zip", "map"))
"""Calls that ask what they are given for its iterator, which starts the workers, be their result used or not."""
_AT_ONCE |= {"itertools.cycle", "itertools.zip_longest"}
_STARTING_NAMES = frozenset({"spawn", "start_processes", "start", "val"}) | {via[1:] for via in _TRAINING_METHODS}
_STARTING_NAMES |= {name.rpartition(".")[2] for name in _AT_ONCE}
_MAINS = frozenset({"component", "components", "f", "func", "function", "main"})
"""Names of the argument by which such a call is given the function."""
_PROCESSES = frozenset({"multiprocessing.Process", "torch.multiprocessing.Process"})


@dataclass(frozen=True, slots=True)
class Start:
    """A place that starts worker processes: a loop over a loader, or an explicit start."""

    node: ast.AST
    scope: Scope
    loader: Loader | None
    what: str

    @property
    def place(self) -> tuple[int, int]:
        """Its line and column."""
        return getattr(self.node, "lineno", 0), getattr(self.node, "col_offset", 0)


class Script:
    """A module that is run as a program."""

    def __init__(self, program: Program, module: Module) -> None:
        self.program = program
        self.module = module

    @property
    def path(self) -> str:
        """The file that is run."""
        return self.module.path

    def unguarded(self) -> Iterator[tuple[ast.AST, list[Step], Start]]:
        """Each module-level place outside of the guard that leads to a start of processes, with the way."""
        scope = self.module.scope
        frame = Frame(scope)
        for start in starts(self.program, scope, frame):
            if not conditions.is_guarded(start.node):
                yield start.node, [], start
        packaged = self.program.modules.in_package(self.module)
        calls = [c for c in scope.calls if not conditions.is_guarded(c) and not (packaged and not self._is_own(c))]
        calls = [call for call in calls if _is_reached(self.program, call, frame)]
        yield from sorted(self._reached(calls, frame), key=lambda found: (found[0].lineno, found[0].col_offset))

    def _reached(self, calls: list[ast.Call], frame: Frame) -> Iterator[tuple[ast.Call, list[Step], Start]]:
        """The starts in functions that module-level calls lead to."""
        made_by: dict[int, ast.Call] = {}
        entries: list[Step] = []
        for call in calls:
            for step in self._entered(call, frame):
                made_by[id(step)] = call
                entries.append(step)
        for step in WorkerCode(self.program, entries, _DEEPEST).steps:
            first = first_start(self.program, step.frame)
            if first is not None and not conditions.is_guarded(first.node):
                yield made_by[id(step.root)], [step], first

    def _is_own(self, call: ast.Call) -> bool:
        """Whether the module itself defines what it calls: in a package, all other calls set up the module."""
        bindings = self.module.scope.bindings.get(last_name(call.func), ())
        return any(binding.kind == "scope" for binding in bindings)

    def _entered(self, call: ast.Call, frame: Frame) -> list[Step]:
        found = []
        for value in self.program.evaluator.values(call.func, frame):
            if isinstance(value, Function):
                if value.scope.is_generator and not _is_consumed(call):
                    continue
                inner = Frame(value.scope, value.receiver, call, frame, value.outer)
                found.append(Step(value.scope, inner, ""))
            elif isinstance(value, Instance):
                called = callable_method(self.program, value)
                found += [Step(called, Frame(called, value, call, frame), "")] if called is not None else []
            elif isinstance(value, ClassRef):
                first = classes.method(self.program.evaluator, value.cls, "__init__")
                if first is not None:
                    found.append(Step(first, Frame(first, Instance(value.cls, call, frame), call, frame), ""))
            else:
                run = _run_by_command_line(self.program, value, call, frame)
                found += [Step(main.scope, Frame(main.scope, main.receiver), "") for main in run]
        return found


def _run_by_command_line(program: Program, value: Value, call: ast.Call, frame: Frame) -> Iterator[Function]:
    """The function that `fire.Fire(main)` runs, or `app()` of a typer application with one command."""
    if isinstance(value, External) and value.name in apis.RUNS_MAIN:
        for given in [*call.args[:1], *(k.value for k in call.keywords if k.arg in _MAINS)]:
            yield from (main for main in program.evaluator.values(given, frame) if isinstance(main, Function))
    elif isinstance(value, Product) and value.name == "typer.Typer" and isinstance(call.func, ast.Name):
        commands = [child for child in frame.scope.children.values() if _is_command_of(child, call.func.id)]
        if len(commands) == 1 and isinstance(commands[0], FunctionScope):
            yield Function(commands[0])


def _is_command_of(scope: Scope, app: str) -> bool:
    """Whether a function is decorated by `@app.command()`."""
    decorators = scope.node.decorator_list if isinstance(scope.node, ast.FunctionDef) else []
    called = [node.func if isinstance(node, ast.Call) else node for node in decorators]
    return any(dotted(node) == f"{app}.command" for node in called)


def _is_consumed(call: ast.Call) -> bool:
    """Whether the generator that a call gives is run on the spot: looped over, or handed to `list`, `next` ..."""
    around = parent(call)
    if isinstance(around, (ast.For, ast.AsyncFor, ast.comprehension, ast.YieldFrom, ast.Starred)):
        return True
    return isinstance(around, ast.Call) and call in around.args and f"builtins.{last_name(around)}" in apis.ITERATES


def first_start(program: Program, frame: Frame) -> Start | None:
    """The first place in a function that starts processes: the same for every script that comes to it."""
    memo = program.facts.starts_memo
    if frame not in memo:
        memo[frame] = next(iter(starts(program, frame.scope, frame)), None)
    return memo[frame]


def starts(program: Program, scope: Scope, frame: Frame) -> list[Start]:
    """The places in one scope that start processes, in the order of the source."""
    found = [s for s in _starts(program, scope.index(), frame) if _is_reached(program, s.node, frame)]
    return sorted(found, key=lambda start: start.place)


def _is_reached(program: Program, node: ast.AST, frame: Frame) -> bool:
    return not settled.is_never_reached(program.evaluator, node, frame)


def _starts(program: Program, scope: Scope, frame: Frame) -> Iterator[Start]:
    for loop in scope.loops:
        for loader in _working(program, loop.iter, frame):
            node = loop if isinstance(loop, ast.stmt) else loop.iter
            yield Start(node, scope, loader, "iterated")
    for yielded in scope.yields:
        if isinstance(yielded, ast.YieldFrom):
            for loader in _working(program, yielded.value, frame):
                yield Start(yielded, scope, loader, "iterated")
    for call in scope.calls:
        if origin_name(call.func, scope) in _STARTING_NAMES:
            for function in program.evaluator.values(call.func, frame):
                for started, what in _started_by(program, function, call, frame):
                    yield Start(call, scope, started, what)


def _started_by(program: Program, function: Value, call: ast.Call, frame: Frame) -> Iterator[tuple[Loader | None, str]]:
    """What a call of `function` starts: loaders with workers, or other processes; and by which name."""
    if isinstance(function, External) and function.name in _STARTERS:
        yield None, function.name.rpartition(".")[2]
    elif isinstance(function, External) and function.name in _AT_ONCE:
        for argument in call.args:
            yield from ((loader, "iterated") for loader in _working(program, argument, frame))
    elif isinstance(function, Derived) and function.via == ".start" and _is_process(function.base):
        yield None, "Process.start"
    elif isinstance(function, Derived) and ultralytics.starts_workers(program, function, call, frame):
        yield None, f"{function.via[1:]}()"
    elif isinstance(function, Derived) and function.via in _TRAINING_METHODS:
        for loader in _trained(program, function, call, frame):
            yield loader, f"{function.via[1:]}()"


def _trained(program: Program, method: Derived, call: ast.Call, frame: Frame) -> Iterator[Loader]:
    """The loaders with workers that a trainer's method loops over."""
    base = method.base
    if not isinstance(base, Product):
        return
    if base.name == "lightning.pytorch.Trainer":
        for argument in [*call.args[1:], *(k.value for k in call.keywords)]:
            yield from _working(program, argument, frame)
    elif base.name in ("transformers.Trainer", "transformers.Seq2SeqTrainer"):
        yield from (loader for loader in program.facts.loaders_made_by(base) if loader.has_workers)


def _is_process(value: Value) -> bool:
    return isinstance(value, Product) and value.name in _PROCESSES


def _working(program: Program, node: ast.expr, frame: Frame) -> Iterator[Loader]:
    """The loaders with workers that iterating an expression starts."""
    for loader, named in iterations.iterated(program, node, frame):
        here = _as_made(program, loader, named, frame)
        if here.has_workers:
            yield here


def _as_made(program: Program, loader: Loader, named: ast.expr, frame: Frame) -> Loader:
    """A loader with the arguments of the calls that lead to it from here: other callers may give it no workers."""
    for value in program.evaluator.values(named, frame):
        if isinstance(value, Product) and value.node is loader.call:
            here = loader.made_in(value.frame)
            if here.workers.is_known:
                return here
    return loader


def find(program: Program) -> Iterator[Script]:
    """The modules of a program that may be run as scripts, and that are neither tests nor notebooks."""
    for module in program.script_modules:
        module.scope  # noqa: B018 - parses the file, which shows what it is
        if module.error is None and not module.is_test and not module.is_notebook:
            yield Script(program, module)


def statement(node: ast.AST) -> ast.AST:
    """The statement that a node stands in."""
    at: ast.AST | None = node
    while at is not None and not isinstance(at, ast.stmt):
        at = parent(at)
    return at if at is not None else node
