"""What `get_worker_info()`, and the process itself, tell code of where it runs: what of it no worker comes to."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeGuard

from dllint.code.language import conditions, wrappers
from dllint.code.language.scopes import FunctionScope, Scope, last_name
from dllint.code.language.values import Frame, Function, Product

if TYPE_CHECKING:
    from dllint.code.program import Program

_DEEPEST = 4
"""Helpers and flags behind one another that a test is followed through."""


_ASKED = "get_worker_info"
_PARENT = "parent_process"
_CURRENT = "current_process"
_INFOS = frozenset(
    ("torch.utils.data.get_worker_info", f"multiprocessing.{_PARENT}", f"torch.multiprocessing.{_PARENT}")
)
"""What gives None in the main process, and something in a worker."""
_MAIN = "MainProcess"
"""The name of the first process."""


def is_for_no_worker(program: Program, node: ast.AST, frame: Frame) -> bool:
    """Whether a node stands where only main comes to: under `if get_worker_info() is None`, however that is put."""
    if frame.scope.module not in program.facts.modules_that_ask:
        return False
    tests = conditions.leading_to(node)
    return any(in_worker(program, test, frame) is (not outcome) for test, outcome in tests)


def is_entered_in_main_alone(program: Program, scope: Scope) -> bool:
    """Whether a decorator of the project keeps a function from workers: `@main_only`."""
    if not getattr(scope.node, "decorator_list", ()) or not program.facts.modules_that_ask:
        return False
    return wrappers.is_entered_where(program, scope, lambda call, inner: is_for_no_worker(program, call, inner))


def in_worker(program: Program, test: ast.expr, frame: Frame, depth: int = 0) -> bool | None:
    """How a condition comes out in a worker; None where it asks for something else too."""
    if depth > _DEEPEST:
        return None
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = in_worker(program, test.operand, frame, depth)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        found = [in_worker(program, part, frame, depth) for part in test.values]
        decisive = isinstance(test.op, ast.Or)
        return decisive if decisive in found else None if None in found else not decisive
    if _names_process(test):
        return isinstance(test.ops[0], ast.NotEq)
    if _compares_with_none(test):
        return isinstance(test.ops[0], (ast.IsNot, ast.NotEq)) if _is_worker_info(program, test.left, frame) else None
    behind = conditions.flagged(test)
    if behind is not None and behind is not test:
        return in_worker(program, behind, frame, depth + 1)
    if _is_worker_info(program, test, frame):
        return True
    return _answered(program, test, frame, depth) if isinstance(test, ast.Call) else None


def _names_process(test: ast.expr) -> TypeGuard[ast.Compare]:
    """`multiprocessing.current_process().name == "MainProcess"`."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], (ast.Eq, ast.NotEq)):
        return False
    left, name = test.left, test.comparators[0]
    asked = left.value if isinstance(left, ast.Attribute) and left.attr == "name" else None
    is_current = isinstance(asked, ast.Call) and last_name(asked.func) == _CURRENT
    return is_current and isinstance(name, ast.Constant) and name.value == _MAIN


def _compares_with_none(test: ast.expr) -> TypeGuard[ast.Compare]:
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    other = test.comparators[0]
    return isinstance(other, ast.Constant) and other.value is None


def _is_worker_info(program: Program, node: ast.expr, frame: Frame) -> bool:
    if isinstance(node, ast.NamedExpr):
        return _is_worker_info(program, node.value, frame)
    module = frame.scope.module
    if not any(map(module.lines_with, (_ASKED, _PARENT))):
        return False
    asking = {_ASKED, _PARENT, *module.other_names(_ASKED), *module.other_names(_PARENT)}
    is_asked = last_name(node.func) in asking if isinstance(node, ast.Call) else isinstance(node, ast.Name)
    if not is_asked:
        return False
    found = program.evaluator.values(node, frame)
    return any(isinstance(v, Product) and v.name in _INFOS for v in found)


def helpers(program: Program) -> frozenset[str]:
    """The names of functions that return what the worker's number or presence says, directly or by one another."""
    asking = {_ASKED, _PARENT, _CURRENT}
    modules = list(dict.fromkeys(module for name in sorted(asking) for module in program.modules_with(name)))
    for _ in range(_DEEPEST):
        scopes = (scope for module in modules for name in asking for _, scope in module.calls_of(name))
        functions = (scope for scope in scopes if isinstance(scope, FunctionScope) and len(scope.returns) == 1)
        asking |= {function.name for function in functions if not function.name.startswith("__")}
    return frozenset(asking)


def _answered(program: Program, call: ast.Call, frame: Frame, depth: int) -> bool | None:
    """The same of a helper that does nothing but return a condition: `def in_worker(): return ...`."""
    if last_name(call.func) not in program.facts.process_tests:
        return None
    found = program.evaluator.values(call.func, frame)
    function = found[0] if len(found) == 1 and isinstance(found[0], Function) else None
    returns = function.scope.returns if function is not None else ()
    if function is None or len(returns) != 1 or returns[0].value is None:
        return None
    inside = Frame(function.scope, function.receiver, call, frame, function.outer)
    return in_worker(program, returns[0].value, inside, depth + 1)
