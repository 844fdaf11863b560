"""Calls that only write messages, and answers that decide about nothing else."""

from __future__ import annotations

import ast

from dllint.code.language import conditions
from dllint.code.language.links import parent
from dllint.code.language.scopes import FunctionScope, dotted, last_name
from dllint.patterns import pattern

_LOGS = pattern(r"(^|_)(log|logs|logging|logger|print|pprint|warn|warnings)(_|$)")


def names_a_log(name: str) -> bool:
    """Whether a function, module or object has the name of one that only writes messages."""
    return _LOGS.search(name.lower()) is not None


def is_message(node: ast.AST) -> bool:
    """Whether a statement only writes a message: `print(...)`, `logger.info(...)`, `tqdm.write(...)`."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    text = dotted(node.value.func)
    return text == "tqdm.write" or any(names_a_log(part) for part in text.split("."))


def decides_messages(scope: FunctionScope, answer: ast.Call) -> bool:
    """Whether the answer to a question decides only whether messages are written: at once, or under a name."""
    statement = _statement_of(answer)
    if isinstance(statement, ast.If):
        return _guards_messages(statement)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or any(b.kind == "global" for b in scope.index().bindings.get(target.id, ())):
        return False
    reads = [n for n in ast.walk(scope.node) if isinstance(n, ast.Name) and n.id == target.id and n is not target]
    users = [_statement_of(read) for read in reads if isinstance(read.ctx, ast.Load)]
    return bool(users) and all(isinstance(user, ast.If) and _guards_messages(user) for user in users)


def is_asked_in_a_group(call: ast.Call) -> bool:
    """Whether a question for the rank is only asked where there is a process group."""
    tests = [test for test, _ in conditions.leading_to(call)]
    return any(last_name(p) == "is_initialized" for t in tests for p in ast.walk(t) if isinstance(p, ast.Call))


def _statement_of(node: ast.AST) -> ast.AST | None:
    at: ast.AST | None = node
    while at is not None and not isinstance(at, ast.stmt):
        at = parent(at)
    return at


def _guards_messages(statement: ast.If) -> bool:
    return not statement.orelse and all(is_message(inner) for inner in statement.body)
