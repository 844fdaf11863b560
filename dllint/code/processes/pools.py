"""Functions of the project that run in other processes: mapped over a pool, or the target of a daemonic process."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language import classes
from dllint.code.language.links import parent
from dllint.code.language.modules import Module
from dllint.code.language.scopes import Scope, last_name
from dllint.code.language.values import Const, Derived, External, Frame, Instance, Product, Value
from dllint.code.workers.entries import entries_of_values
from dllint.code.workers.reach import Step
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

DAEMON_ERROR = "AssertionError: daemonic processes are not allowed to have children"
LOKY_ERROR = "AttributeError: 'Process' object has no attribute 'env'"

_THREADS = frozenset({"threading", "sequential", "threads", "sharedmem"})
"""Values of joblib's backend, prefer and require that mean threads, or nothing in parallel."""
_POOL_WORDS = (b"Pool", b"joblib", b"daemon")


@dataclass(frozen=True, slots=True)
class Mapped:
    """Functions that run in the processes of a pool, by one call."""

    functions: tuple[Step, ...]
    call: ast.AST
    module: Module
    pool: str
    error: str


def _modules_with_pools(program: Program) -> Iterator[Module]:
    """The modules that may run project functions in a pool: seeds, and those that speak of one."""
    seeds = {id(module) for module in program.seeds}
    names = {module.last_name for module in program.seeds}
    for module in program.modules.by_file.values():
        if module.is_test or not any(map(module.holds, _POOL_WORDS)):
            continue
        if id(module) in seeds or any(map(module.holds, names)):
            yield module


def find(program: Program) -> Iterator[Mapped]:
    """All functions of a program that run in processes which may have no children."""
    for module in _modules_with_pools(program):
        yield from _by_pools(program, module)
        yield from _by_joblib(program, module)
        yield from _by_daemons(program, module)


def _by_pools(program: Program, module: Module) -> Iterator[Mapped]:
    if not module.holds(b"Pool"):
        return
    for name in sorted(apis.POOL_MAPS):
        for call, scope in module.calls_of(name):
            if call.args and _is_pool_method(program, call, Frame(scope)):
                yield from _of_function(program, call.args[0], call, scope, "a multiprocessing.Pool", DAEMON_ERROR)


def _by_joblib(program: Program, module: Module) -> Iterator[Mapped]:
    if not module.holds(b"joblib"):
        return
    for call, scope in module.calls_of("delayed"):
        error = _joblib_error(program, call, Frame(scope))
        if call.args and error:
            yield from _of_function(program, call.args[0], call, scope, "joblib.Parallel", error)


def _by_daemons(program: Program, module: Module) -> Iterator[Mapped]:
    if b"daemon=True" not in module.data:
        return
    for call, scope in module.calls_of("Process"):
        target = next((k.value for k in call.keywords if k.arg == "target"), None)
        if target is not None and _is_daemon(program, call, Frame(scope)):
            yield from _of_function(program, target, call, scope, "a daemonic process", DAEMON_ERROR)


def _of_function(
    program: Program, function: ast.expr, call: ast.Call, scope: Scope, pool: str, error: str
) -> Iterator[Mapped]:
    steps = entries_of_values(program, program.evaluator.values(function, Frame(scope)), "")
    if steps:
        yield Mapped(tuple(steps), call, scope.module, pool, error)


def _is_pool_method(program: Program, call: ast.Call, frame: Frame) -> bool:
    for value in program.evaluator.values(call.func, frame):
        base = value.base if isinstance(value, Derived) else None
        if isinstance(base, Derived) and base.via == "with":
            base = base.base
        if isinstance(base, Product) and base.name in apis.POOLS:
            return True
        made = isinstance(base, Derived) and base.via == ".Pool()" and isinstance(base.base, Product)
        if made and isinstance(base, Derived) and isinstance(base.base, Product) and base.base.name in apis.CONTEXTS:
            return True
    return False


def _is_daemon(program: Program, call: ast.Call, frame: Frame) -> bool:
    if not any(
        k.arg == "daemon" and isinstance(k.value, ast.Constant) and k.value.value is True for k in call.keywords
    ):
        return False
    return any(is_process(program, value) for value in program.evaluator.values(call, frame))


def _joblib_error(program: Program, delayed: ast.Call, frame: Frame) -> str:
    """What a loader with workers comes to in the function of `delayed(function)`; empty where it runs in threads."""
    names = {v.name for v in program.evaluator.values(delayed.func, frame) if isinstance(v, External)}
    if not names & {"joblib.delayed", "joblib.parallel.delayed"}:
        return ""
    at = parent(delayed)
    while at is not None and not isinstance(at, ast.stmt):
        if isinstance(at, ast.Call) and last_name(at.func) != "delayed":
            for value in program.evaluator.values(at.func, frame):
                made = value.base if isinstance(value, Derived) and value.via == "with" else value
                if isinstance(made, Product) and made.name in ("joblib.Parallel", "joblib.parallel.Parallel"):
                    return _of_backend(program, made)
        at = parent(at)
    return ""


def _of_backend(program: Program, made: Product) -> str:
    """By joblib's arguments; empty where they mean threads, one process, or are not known."""
    error = LOKY_ERROR
    named = {k.arg: k.value for k in made.node.keywords if k.arg is not None}
    jobs = named.get("n_jobs", made.node.args[0] if made.node.args else None)
    if jobs is None or _constants(program, jobs, made.frame) <= {1, None}:
        return ""
    for name in ("backend", "prefer", "require"):
        if name not in named:
            continue
        found = _constants(program, named[name], made.frame)
        if found & _THREADS or not found <= {"loky", "multiprocessing", "processes", None}:
            return ""
        error = DAEMON_ERROR if "multiprocessing" in found else error
    return error


def _constants(program: Program, node: ast.expr, frame: Frame) -> set[object]:
    """The constants that an argument can be; `...` stands for what is not known."""
    values = program.evaluator.values(node, frame)
    return {value.value if isinstance(value, Const) else ... for value in values}


def is_process(program: Program, value: Value) -> bool:
    """Whether a value is a process object, of multiprocessing or of a class that derives from it."""
    if isinstance(value, Product):
        return value.name in apis.PROCESSES
    if isinstance(value, Derived):
        return value.via == ".Process()" and isinstance(value.origin, Product) and value.origin.name in apis.CONTEXTS
    return isinstance(value, Instance) and classes.is_subclass(program.evaluator, value.cls, apis.PROCESSES)
