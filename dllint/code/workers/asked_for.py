"""Options by which a user asks for the data in memory: what only they lead to is no mistake."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code.language import conditions
from dllint.code.language.scopes import dotted
from dllint.code.language.values import Frame, by_default, truth
from dllint.code.workers.state import Item

if TYPE_CHECKING:
    from dllint.code.program import Program

_OPT_IN = (
    "cache",
    "preload",
    "pre_load",
    "memory",
    "ram",
    "eager",
    "load_all",
    "in_mem",
    "lazy",
    "load_data",
    "offline",
)
"""Parts of the names of options by which a user asks for the data in memory."""


def is_asked_for(program: Program, item: Item) -> bool:
    """Whether the data is only in memory because a user's option, off by default, says so."""
    frame: Frame | None = item.frame
    node: ast.AST = item.write.node
    while frame is not None:
        if is_optional(program, node, frame):
            return True
        if frame.call is None or frame.caller is None or frame.caller.scope.parent is not item.frame.scope.parent:
            break
        node, frame = frame.call, frame.caller
    return "cache" in item.frame.scope.name.lower()


def is_optional(program: Program, node: ast.AST, frame: Frame) -> bool:
    """Whether a node is only reached by an option for data in memory that is off by default."""
    return any(is_off(program, test, outcome, frame) for test, outcome in conditions.leading_to(node))


def is_off(program: Program, test: ast.expr, outcome: bool, frame: Frame) -> bool:
    """Whether a test asks for an option for data in memory, and comes out otherwise by default."""
    memo = program.facts.options_memo
    if test not in memo:
        memo[test] = _names_an_option(test)
    return memo[test] and not _holds_by_default(program, test, outcome, frame)


def _names_an_option(test: ast.expr) -> bool:
    texts = {dotted(part).lower() for part in ast.walk(test) if isinstance(part, (ast.Name, ast.Attribute))}
    texts |= {str(part.value).lower() for part in ast.walk(test) if isinstance(part, ast.Constant)}
    return any(word in text for word in _OPT_IN for text in texts)


def _holds_by_default(program: Program, test: ast.expr, outcome: bool, frame: Frame) -> bool:
    """Whether a test comes out like this unless somebody outside of the project passes something else."""
    found = [truth(value) for value in by_default(program.evaluator.values(test, frame))]
    return bool(found) and all(verdict is outcome for verdict in found)
