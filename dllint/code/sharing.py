"""The strategy by which workers share tensors with main: where a program sets it, and to what."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.code.scopes import Scope
from dllint.code.values import Const, External, Frame, Values

if TYPE_CHECKING:
    from dllint.code.program import Program

STRATEGIES = ("file_descriptor", "file_system")
_SETTER = "torch.multiprocessing.set_sharing_strategy"


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
