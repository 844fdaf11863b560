"""The strategy by which workers share tensors with main: where a program sets it, and to what."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language import conditions
from dllint.code.language.links import block_of
from dllint.code.language.scopes import FunctionScope, Scope, last_name
from dllint.code.language.values import Const, External, Frame, Function, Values
from dllint.code.loaders import iterations
from dllint.code.loaders.loader import Loader
from dllint.code.processes import scripts, start_method
from dllint.finding import Related
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

STRATEGIES = ("file_descriptor", "file_system")
"""The strategies that torch has; on macOS and Windows the second one alone."""
_SETTER = "torch.multiprocessing.set_sharing_strategy"
_DEEPEST = 2
"""Calls outwards that are followed."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A call of `set_sharing_strategy`."""

    call: ast.Call
    scope: Scope
    values: Values
    """What it may be set to."""

    @property
    def names(self) -> list[object]:
        """The strategies that it certainly names."""
        return [value.value for value in self.values if isinstance(value, Const)]


def settings(program: Program) -> list[Setting]:
    """All calls that set the strategy, outside of tests."""
    if program.facts.sharing_memo is None:
        program.facts.sharing_memo = list(_settings(program))
    return program.facts.sharing_memo


def _settings(program: Program) -> Iterator[Setting]:
    for module in program.modules_with("set_sharing_strategy"):
        if module.is_test:
            continue
        for call, scope in module.calls_of("set_sharing_strategy"):
            frame = Frame(scope)
            names = {v.name for v in program.evaluator.values(call.func, frame) if isinstance(v, External)}
            given = [*call.args, *(k.value for k in call.keywords)]
            if _SETTER in names and given:
                yield Setting(call, scope, program.evaluator.values(given[0], frame))


def may_use_files(program: Program) -> bool:
    """Whether the program may set `file_system` somewhere, which needs no descriptors."""
    return any(not setting.names or "file_system" in setting.names for setting in settings(program))


# When


def started_before(program: Program, setting: Setting) -> Related | None:
    """Where workers are started before a strategy is set; None if no such place is seen."""
    if _runs_in_workers(program, setting.scope) or _is_for_later_loaders(program, setting):
        return None
    return _before(program, setting.call, setting.scope, 0)


def _is_for_later_loaders(program: Program, setting: Setting) -> bool:
    """Whether other loaders start their workers after a strategy is set: these get it, unless they are spawned.

    Workers from before that live on keep theirs.
    """
    before: set[Loader] = set()
    after: set[Loader] = set()
    for start in scripts.starts(program, setting.scope, Frame(setting.scope)):
        if start.loader is not None:
            (before if _is_earlier(start.node, setting.call) else after).add(start.loader)
    if any(loader.option("persistent_workers").is_certainly(True) for loader in before):
        return False
    return any(start_method.of_loader(program, loader) - start_method.PICKLING for loader in after - before)


def _before(program: Program, call: ast.Call, scope: Scope, depth: int) -> Related | None:
    """A start of workers on the way to a call: earlier in its function, or in those that call it."""
    here = block_of(call)
    for start in scripts.starts(program, scope, Frame(scope)):
        if start.loader is not None and _is_earlier(start.node, call) and not block_of(start.node).excludes(here):
            return Related("workers started here", scope.module.location(iterations.head(start.node)))
    for other in scope.calls:
        if _is_earlier(other, call) and not block_of(other).excludes(here):
            started = _started_by(program, other, Frame(scope))
            if started is not None:
                return started
    if not isinstance(scope, FunctionScope) or depth >= _DEEPEST:
        return None
    found = (_before(program, outer, caller.scope, depth + 1) for outer, caller in program.call_sites(scope))
    return next((related for related in found if related is not None), None)


def _started_by(program: Program, call: ast.Call, frame: Frame) -> Related | None:
    """Where a function of the project starts workers that a call enters."""
    if last_name(call.func) not in program.defined_names:
        return None
    for value in program.evaluator.values(call.func, frame):
        if isinstance(value, Function) and not value.scope.is_generator:
            inner = Frame(value.scope, value.receiver, call, frame, value.outer)
            start = scripts.first_start(program, inner)
            if start is not None and start.loader is not None:
                return Related("workers started here", value.scope.module.location(iterations.head(start.node)))
    return None


def _is_earlier(node: ast.AST, call: ast.Call) -> bool:
    """Whether a node starts before a call, which is no part of it."""
    place = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
    return place < (call.lineno, call.col_offset) and not any(part is call for part in _parts_run_first(node))


def _parts_run_first(node: ast.AST) -> list[ast.AST]:
    """What of a loop or call is evaluated before it starts anything."""
    return list(ast.walk(iterations.head(node)))


def _runs_in_workers(program: Program, scope: Scope) -> bool:
    return any(step.scope is scope for entry in program.facts.worker_entries for step in entry.code.steps)


def reaches_spawned(program: Program, setting: Setting) -> bool:
    """Whether workers of the program may get what is set: false only where all of them are spawned, and none can."""
    working = [one for one in program.facts.loaders if one.has_workers and not one.module.is_test]
    methods = frozenset().union(*(start_method.of_loader(program, one) for one in working))
    if not methods or not methods <= start_method.PICKLING:
        return True
    return any(_is_run_by_spawned(program, other) for other in (setting, *settings(program)))


def _is_run_by_spawned(program: Program, setting: Setting) -> bool:
    """Whether a spawned worker passes the call: at import, or in worker code."""
    if _runs_in_workers(program, setting.scope):
        return True
    return _is_run_at_import(program, setting.call, setting.scope, 0)


def _is_run_at_import(program: Program, call: ast.Call, scope: Scope, depth: int) -> bool:
    if conditions.is_guarded(call):
        return False
    if not isinstance(scope, FunctionScope):
        return True
    callers = program.call_sites(scope) if depth < _DEEPEST else []
    return not callers or any(_is_run_at_import(program, outer, at.scope, depth + 1) for outer, at in callers)
