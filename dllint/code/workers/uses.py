"""Where worker code calls certain functions of a library."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from dllint.code.language.scopes import FunctionScope
from dllint.code.language.values import External, Frame
from dllint.code.workers.reach import Step, WorkerCode, is_main_only

if TYPE_CHECKING:
    from dllint.code.program import Program


def in_worker(code: WorkerCode, names: frozenset[str]) -> Iterator[tuple[Step, ast.Call, str]]:
    """The calls that workers make of the library functions `names`, each with the step that makes it, and its name."""
    for step in code.steps:
        for call, name in in_function(code.program, step.scope, step.frame, names):
            if not is_main_only(code.program, call, step.frame):
                yield step, call, name


def in_function(
    program: Program, scope: FunctionScope, frame: Frame, names: frozenset[str]
) -> list[tuple[ast.Call, str]]:
    """The calls that one function makes of the library functions `names`: the same in every code that runs it."""
    last, in_bytes = _last_names(names)
    if in_bytes.isdisjoint(scope.module.words):
        return []
    memo = program.facts.uses_memo
    if (frame, names) not in memo:
        calls = [c for c in scope.index().calls if not isinstance(c.func, ast.Attribute) or c.func.attr in last]
        found = [(call, _name_among(program, call.func, frame, names)) for call in calls]
        memo[frame, names] = [(call, name) for call, name in found if name]
    return memo[frame, names]


def _name_among(program: Program, function: ast.expr, frame: Frame, names: frozenset[str]) -> str:
    """Which of `names` an expression is; an empty string for none."""
    values = program.evaluator.values(function, frame)
    return next((value.name for value in values if isinstance(value, External) and value.name in names), "")


def runs_in_worker_only(step: Step) -> bool:
    """Whether a step is reached from what a worker itself calls: `__len__` is asked by the main process."""
    return step.root.scope.name != "__len__"


@cache
def _last_names(names: frozenset[str]) -> tuple[frozenset[str], frozenset[bytes]]:
    """The last part of each of some names, as text and as bytes."""
    parts = frozenset(name.rpartition(".")[2] for name in names)
    return parts, frozenset(part.encode() for part in parts)
