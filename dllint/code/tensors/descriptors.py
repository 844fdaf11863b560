"""Whether a program makes room for many shared tensors: by another sharing strategy, or by a higher limit."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code.language.modules import Module
from dllint.code.language.values import Const, External, Frame

if TYPE_CHECKING:
    from dllint.code.program import Program

_STRATEGY = frozenset({"torch.multiprocessing.set_sharing_strategy"})
_LIMIT = frozenset({"resource.setrlimit"})


def has_room(program: Program) -> bool:
    """Whether any module of the project chooses the strategy without descriptors, or raises their limit."""
    return any(_chooses_files(program, module) for module in program.modules_with("set_sharing_strategy")) or any(
        _calls(program, module, "setrlimit", _LIMIT) for module in program.modules_with("setrlimit", "RLIMIT_NOFILE")
    )


def _chooses_files(program: Program, module: Module) -> bool:
    for call, frame in _calls(program, module, "set_sharing_strategy", _STRATEGY):
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        found = [v for argument in given[:1] for v in program.evaluator.values(argument, frame)]
        if not all(isinstance(v, Const) and v.value == "file_descriptor" for v in found):
            return True
    return False


def _calls(program: Program, module: Module, name: str, wanted: frozenset[str]) -> list[tuple[ast.Call, Frame]]:
    found = []
    for call, scope in module.calls_of(name):
        frame = Frame(scope)
        if any(isinstance(v, External) and v.name in wanted for v in program.evaluator.values(call.func, frame)):
            found.append((call, frame))
    return found
