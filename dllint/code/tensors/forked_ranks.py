"""Ranks that the main process forks explicitly, and what of it has touched CUDA by then."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language import classes, conditions, watched
from dllint.code.language.links import block_of
from dllint.code.language.modules import Module
from dllint.code.language.scopes import FunctionScope, Scope
from dllint.code.language.values import ClassRef, Const, Derived, External, Frame, Function, Instance, Product, Value
from dllint.code.tensors import devices, transfers
from dllint.code.tensors.devices import Device
from dllint.code.workers.entries import entries_of_values
from dllint.code.workers.reach import Step, WorkerCode
from dllint.finding import Related
from dllint.patterns import pattern
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

_NOTEBOOK = frozenset({"accelerate.notebook_launcher", "accelerate.launchers.notebook_launcher"})
_START = frozenset({"torch.multiprocessing.start_processes"})
_TRAINERS = frozenset({"lightning.pytorch.Trainer", "lightning.fabric.Fabric", "lightning.Fabric"})
_FORKING_STRATEGIES = ("ddp_fork", "ddp_notebook")
_NAMES = ("notebook_launcher", "start_processes", "fit", "launch", "Process", "Pool")
_FORK = pattern(rb"ddp_fork|[\"']fork[\"']")
_ASKS = "torch.cuda.is_available"
_NVML = b"PYTORCH_NVML_BASED_CUDA_CHECK"
"""With this variable `is_available()` starts nothing."""
_DEEPEST = 2


@dataclass(frozen=True, slots=True)
class Touch:
    """A call in the main process that starts CUDA, with the way to it from the function that forks."""

    call: ast.Call
    frame: Frame
    text: str
    way: tuple[Related, ...] = ()

    @property
    def is_question(self) -> bool:
        """Whether it only asks for a GPU: that is enough, but easily overlooked."""
        return self.text.startswith(_ASKS)


@dataclass(frozen=True, slots=True)
class Launch:
    """A call that forks ranks."""

    program: Program
    call: ast.Call
    frame: Frame
    text: str

    @property
    def path(self) -> str:
        """The file that forks them."""
        return self.frame.scope.module.path

    def first_touch(self) -> Touch | None:
        """The first touch of CUDA before the ranks are forked; where several, one that does more than ask."""
        found = list(_before(self.program, self.call, self.frame, 0))
        found = [touch for touch in found if not (touch.is_question and _NVML in touch.frame.scope.module.data)]
        return next((touch for touch in found if not touch.is_question), found[0] if found else None)


def find(program: Program) -> Iterator[Launch]:
    """The calls of a program that fork ranks which use CUDA."""
    for module in program.modules.by_file.values():
        if module.is_test or not _speaks_of_forks(module):
            continue
        for name in _NAMES:
            for call, scope in module.calls_of(name):
                if _forks_ranks(program, call, Frame(scope)):
                    yield Launch(program, call, Frame(scope), name)
        yield from _pools(program, module)


def _pools(program: Program, module: Module) -> Iterator[Launch]:
    """The forked pools of a module whose processes run what needs CUDA."""
    for name in sorted(apis.POOL_MAPS) if module.has(watched.FORK) and b"Pool" in module.data else ():
        for call, scope in module.calls_of(name):
            frame = Frame(scope)
            if call.args and _uses_cuda(program, call.args[0], frame):
                for value in program.evaluator.values(call.func, frame):
                    made = _forked_pool(program, value)
                    if made is not None:
                        yield Launch(program, *made, "Pool")


def _forked_pool(program: Program, method: Value) -> tuple[ast.Call, Frame] | None:
    """The call that makes the pool whose method a value is, where that forks."""
    pool = method.base if isinstance(method, Derived) else None
    if isinstance(pool, Derived) and pool.via == "with":
        pool = pool.base
    if isinstance(pool, Product) and pool.name in apis.POOLS and _forks_by_default(program, pool.frame):
        return pool.node, pool.frame
    if not isinstance(pool, Derived) or pool.via != ".Pool()" or not isinstance(pool.base, Product):
        return None
    forks = _is_forking_context(program, pool.base)
    return (pool.node, pool.frame) if forks and isinstance(pool.node, ast.Call) else None


def _is_forking_context(program: Program, made: Product) -> bool:
    method = _argument(made.node, "method", 0)
    return made.name in apis.CONTEXTS and _can_be(program, method, made.frame, "fork")


def _forks_by_default(program: Program, frame: Frame) -> bool:
    """Whether the module says itself that processes are forked."""
    return program.facts.declared_start_methods(frame.scope.module) == {"fork"}


def _speaks_of_forks(module: Module) -> bool:
    forks = module.has(watched.FORK) and _FORK.search(module.data) is not None
    return forks or any(map(module.has, watched.FORKED_RANKS))


def _forks_ranks(program: Program, call: ast.Call, frame: Frame) -> bool:
    return any(_forks(program, value, call, frame) for value in program.evaluator.values(call.func, frame))


def _forks(program: Program, function: Value, call: ast.Call, frame: Frame) -> bool:
    if isinstance(function, External) and function.name in _NOTEBOOK:
        count = _argument(call, "num_processes", 2)
        known = program.evaluator.values(count, frame) if count is not None else ()
        return not any(isinstance(v, Const) and isinstance(v.value, int) and v.value <= 1 for v in known)
    if isinstance(function, External) and function.name in _START:
        method = _argument(call, "start_method", 5)
        forks = method is not None and _can_be(program, method, frame, "fork")
        return forks and _uses_cuda(program, _argument(call, "fn", 0), frame)
    if isinstance(function, External) and function.name in apis.PROCESSES:
        return _forks_by_default(program, frame) and _uses_cuda(program, _argument(call, "target", 1), frame)
    if not isinstance(function, Derived) or not isinstance(function.base, Product):
        return False
    base = function.base
    if base.name in apis.CONTEXTS:
        return _is_forking_context(program, base) and _uses_cuda(program, _argument(call, "target", 1), frame)
    strategy = _argument(base.node, "strategy", -1) if base.name in _TRAINERS else None
    given = program.evaluator.values(strategy, base.frame) if strategy is not None else ()
    return any(_is_forking_strategy(program, value) for value in given)


def _is_forking_strategy(program: Program, value: Value) -> bool:
    """`"ddp_notebook"`, or `DDPStrategy(start_method="fork")`."""
    if isinstance(value, Const):
        return isinstance(value.value, str) and value.value.startswith(_FORKING_STRATEGIES)
    if not isinstance(value, Product) or not value.name.endswith("Strategy"):
        return False
    return _can_be(program, _argument(value.node, "start_method", -1), value.frame, "fork")


def _argument(call: ast.Call, name: str, position: int) -> ast.expr | None:
    given = next((k.value for k in call.keywords if k.arg == name), None)
    if given is None and 0 <= position < len(call.args):
        return call.args[position]
    return given


def _can_be(program: Program, node: ast.expr | None, frame: Frame, wanted: str) -> bool:
    values = program.evaluator.values(node, frame) if node is not None else ()
    return any(isinstance(v, Const) and v.value == wanted for v in values)


def _uses_cuda(program: Program, node: ast.expr | None, frame: Frame) -> bool:
    """Whether a function that runs in the child needs CUDA, or may."""
    entries = entries_of_values(program, program.evaluator.values(node, frame), "") if node is not None else []
    return any(transfers.in_function(program, step.frame) for step in WorkerCode(program, entries).steps)


def _before(program: Program, node: ast.AST, frame: Frame, depth: int) -> Iterator[Touch]:
    """The touches on the way to a node, those that come first before the others."""
    scope = frame.scope
    if isinstance(scope, FunctionScope):
        if depth == 0:
            top = scope.module.scope
            yield from _in_scope(program, top, Frame(top), None)
        callers = program.call_sites(scope) if depth < _DEEPEST else []
        for call, caller in callers[:4]:
            if isinstance(caller.scope, FunctionScope) or conditions.is_guarded(call):
                yield from _before(program, call, caller, depth + 1)
    yield from _in_scope(program, scope, frame, node)


def _in_scope(program: Program, scope: Scope, frame: Frame, until: ast.AST | None) -> Iterator[Touch]:
    """The touches of one scope, and of what it calls, up to a node; at module level those of importing it."""
    for call in scope.index().calls:
        if until is None and conditions.is_guarded(call):
            continue
        if until is not None and (not _is_before(call, until) or _is_other_way(call, until)):
            continue
        text = _touched(program, call, frame)
        if text:
            yield Touch(call, frame, text)
        else:
            yield from _within(program, call, frame)


def _is_other_way(call: ast.Call, node: ast.AST) -> bool:
    """Whether a run that makes a call does not come to a node: another branch, or one that has left by then."""
    return block_of(call).excludes(block_of(node)) or conditions.exclude(call, node)


def _is_before(call: ast.Call, node: ast.AST) -> bool:
    """Whether a call is over when a later one starts; it is not, if that stands in it."""
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    return (call.end_lineno or 0, call.end_col_offset or 0) <= (line, column)


def _touched(program: Program, call: ast.Call, frame: Frame) -> str:
    """What touches CUDA in a call, on a machine that has it; empty if nothing does."""
    moved = devices.transfer(program, call, frame)
    if moved is not None and (moved.device is Device.CUDA or moved.where_available):
        return moved.text
    for value in program.evaluator.values(call.func, frame):
        if isinstance(value, External) and value.name in (_ASKS, "accelerate.Accelerator"):
            return f"{value.name}()"
    return ""


def _within(program: Program, call: ast.Call, frame: Frame) -> Iterator[Touch]:
    """The touches in a function of the project that a call runs, or in the `__init__` of a class."""
    for value in program.evaluator.values(call.func, frame):
        entered = _entered(program, value, call, frame)
        if entered is None:
            continue
        for step in WorkerCode(program, [entered], _DEEPEST).steps:
            for part in step.scope.index().calls:
                text = _touched(program, part, step.frame)
                if text:
                    place = Related(f"{entered.scope.qualname} called here", frame.scope.module.location(call))
                    yield Touch(part, step.frame, text, (place,))


def _entered(program: Program, value: Value, call: ast.Call, frame: Frame) -> Step | None:
    if isinstance(value, Function) and not value.scope.is_generator:
        return Step(value.scope, Frame(value.scope, value.receiver, call, frame, value.outer), "")
    if isinstance(value, ClassRef):
        first = classes.method(program.evaluator, value.cls, "__init__")
        if first is not None:
            return Step(first, Frame(first, Instance(value.cls, call, frame), call, frame), "")
    return None
