"""Which functions may have run by the time that something is asked: by the order of the calls that lead to both."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.code.language import conditions, folding
from dllint.code.language.links import block_of
from dllint.code.language.scopes import FunctionScope, ModuleScope, Scope
from dllint.code.language.values import Frame

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator

_MOST_SCOPES = 30
"""Scopes that calls are followed back through."""


class Way:
    """The calls that lead to a place of the source, from wherever the program starts."""

    def __init__(self, ev: Evaluator, node: ast.AST, frame: Frame) -> None:
        self._ev = ev
        self._node = node
        self._frame = frame

    def is_behind(self, node: ast.AST, scope: Scope) -> bool:
        """Whether something that stands in a scope may have happened before."""
        if scope in self._left:
            return any(_precedes(node, left) for left in self._left[scope])
        return isinstance(scope, ModuleScope) or self.has_passed(scope)

    def left_of(self, scope: Scope) -> list[ast.AST]:
        """Where a scope is left for the place, or for what leads to it."""
        return self._left.get(scope, [])

    def has_passed(self, scope: Scope) -> bool:
        """Whether a function may have run before: something that comes first calls it, or what calls it."""
        pending, seen = [scope], {scope}
        while pending and len(seen) < _MOST_SCOPES:
            callers = self._callers_before(pending.pop())
            if any(caller in self._left or isinstance(caller, ModuleScope) for caller in callers):
                return True
            pending += [caller for caller in callers if caller not in seen]
            seen.update(callers)
        return bool(pending)

    def _callers_before(self, scope: Scope) -> dict[Scope, None]:
        """The scopes that call a function, as far as is known before; those beside the way any time."""
        found = ((call, caller) for call, caller in self._calls_of(scope) if happens(self._ev, call, caller))
        return dict.fromkeys(caller.scope for call, caller in found if self._may_precede(call, caller.scope))

    def _may_precede(self, call: ast.Call, scope: Scope) -> bool:
        if scope in self._left:
            return self._is_before(call, scope)
        return not isinstance(scope, ModuleScope) or self._runs_with(scope)

    def _calls_of(self, scope: Scope) -> list[tuple[ast.Call, Frame]]:
        return self._ev.program.call_sites(scope) if isinstance(scope, FunctionScope) else []

    @cached_property
    def _left(self) -> dict[Scope, list[ast.AST]]:
        """The scopes on the way, each with where they are left for the next one."""
        found: dict[Scope, list[ast.AST]] = {self._frame.scope: [self._node]}
        first = self._frame.scope
        for frame in self._frame.way():
            if frame.caller is not None and frame.call is not None:
                first = frame.caller.scope
                found.setdefault(first, []).append(frame.call)
        pending = [first]
        while pending and len(found) < _MOST_SCOPES:
            for call, caller in self._calls_of(pending.pop()):
                if caller.scope not in found:
                    pending.append(caller.scope)
                found.setdefault(caller.scope, []).append(call)
        return found

    def _runs_with(self, script: ModuleScope) -> bool:
        """Whether a script may run in the same process: not one that only shares what the place is in."""
        own = dict.fromkeys(scope.module for scope in self._left)
        return script.module in own or bool(self._ev.program.running_with(own, [script.module]))

    def _is_before(self, call: ast.Call, scope: Scope) -> bool:
        """Whether a call comes before a scope is left, other than by the very call."""
        others = [left for left in self._left[scope] if left is not call]
        return not others or any(_precedes(call, left) for left in others)


def happens(ev: Evaluator, node: ast.AST, frame: Frame) -> bool:
    """Whether something happens when a program is started plainly. What stands under an `if` that nobody knows, `if
    on_windows: ...`, says nothing about that."""
    if conditions.is_unreachable(ev, node, frame):
        return False
    owners = (block.owner for block in block_of(node).chain())
    tests = [owner.test for owner in owners if isinstance(owner, ast.If) and not conditions.is_main_test(owner.test)]
    return all(folding.verdict(ev, test, frame) is not None for test in tests)


def _precedes(node: ast.AST, left: ast.AST) -> bool:
    """Whether something comes first, or is an argument: `build(adjust(args))`."""
    start = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    end = getattr(left, "end_lineno", 0), getattr(left, "end_col_offset", 0)
    return start < end and not block_of(node).excludes(block_of(left))


def is_passed(node: ast.AST, left: ast.AST) -> bool:
    """Whether something of the same scope certainly comes first."""
    return _precedes(node, left) and block_of(node).holds(block_of(left))
