"""Where worker code calls certain functions of a library."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.reach import Step, WorkerCode, is_main_only
from dllint.code.scopes import FunctionScope
from dllint.code.values import External, Frame

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
) -> Iterator[tuple[ast.Call, str]]:
    """The calls that one function makes of the library functions `names`."""
    last = _last_names(names)
    if not any(name in scope.module.data for name in last.values()):
        return
    for call in scope.index().calls:
        function = call.func
        if isinstance(function, ast.Attribute) and function.attr not in last:
            continue
        for value in program.evaluator.values(function, frame):
            if isinstance(value, External) and value.name in names:
                yield call, value.name
                break


def runs_in_worker_only(step: Step) -> bool:
    """Whether a step is reached from what a worker itself calls: `__len__` is asked by the main process."""
    return step.root.scope.name != "__len__"


def _last_names(names: frozenset[str]) -> dict[str, bytes]:
    known = _LAST.get(names)
    if known is None:
        parts = {name.rpartition(".")[2] for name in names}
        known = _LAST[names] = {part: part.encode() for part in parts}
    return known


_LAST: dict[frozenset[str], dict[str, bytes]] = {}
"""The last part of each of some names, as text and as bytes."""
