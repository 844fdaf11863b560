"""What Python code adds to a call of a Hydra config: `instantiate(cfg.data.train, dataset=dataset)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language.arguments import Argument, Arguments
from dllint.code.language.scopes import Scope, dotted
from dllint.code.language.values import Frame

if TYPE_CHECKING:
    from dllint.code.program import Program

_MAKES = "instantiate"


def add_arguments(program: Program, call: ast.Call, frame: Frame, found: Arguments) -> None:
    """Take in the arguments of the one place that is seen to instantiate a call of a config."""
    keys: str = getattr(frame.scope.module, "keys", {}).get(call, "")
    makers = list(_makers(program, keys)) if keys else []
    if len(makers) != 1:
        return
    maker, scope = makers[0]
    for keyword in maker.keywords:
        if keyword.arg is None:
            found.open = True
        elif not keyword.arg.startswith("_"):
            found.add(Argument(keyword.arg, keyword.value, Frame(scope), keyword))


def _makers(program: Program, keys: str) -> Iterator[tuple[ast.Call, Scope]]:
    """The calls that instantiate what stands under these keys of a config, or of the group that it is put into."""
    for module in program.modules_with(_MAKES):
        for call, scope in module.calls_of(_MAKES):
            path = dotted(call.args[0]).partition(".")[2] if call.args else ""
            if path and f".{path}".endswith(f".{keys}"):
                yield call, scope
