"""Whether code that workers run asks which worker it runs in."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language.scopes import last_name
from dllint.code.language.values import Const, Derived, External, Product
from dllint.code.workers.reach import Step

if TYPE_CHECKING:
    from dllint.code.program import Program

_QUERY_WORDS = (
    "worker_info",
    "split_by_worker",
    "num_workers",
    "worker_id",
    "split_by_node",
    "nodesplitter",
    "shard_index",
)


def asks_for_worker(program: Program, steps: Iterable[Step]) -> bool:
    """Whether anything in these functions asks which worker runs it, as far as names and calls tell."""
    steps = list(steps)
    for step in steps:
        for node in ast.walk(step.scope.node):
            named = isinstance(node, (ast.Name, ast.Attribute)) and speaks_of_worker(last_name(node))
            if named and not _is_answer_of_main(program, steps, step, node):
                return True
        for call in step.scope.index().calls:
            for value in program.evaluator.values(call.func, step.frame):
                if isinstance(value, External) and value.name in apis.WORKER_QUERIES:
                    return True
    return False


def _is_answer_of_main(program: Program, steps: list[Step], step: Step, node: ast.AST) -> bool:
    """Whether it is what `get_worker_info()` gave to `__init__`: that runs in main, where there is no worker."""
    found = program.evaluator.values(node, step.frame)
    origins = [value.origin if isinstance(value, Derived) else value for value in found]
    asked = [origin for origin in origins if isinstance(origin, Product) and origin.name in apis.WORKER_QUERIES]
    in_worker = {at.scope for at in steps}
    if not asked or any(origin.frame.scope in in_worker for origin in asked):
        return False
    return all(origin in asked or isinstance(origin, Const) for origin in origins)


def speaks_of_worker(name: str) -> bool:
    """Whether a name is one by which code speaks of its worker, or of how many there are."""
    return any(word in name.lower() for word in _QUERY_WORDS)
