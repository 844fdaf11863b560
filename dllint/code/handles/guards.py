"""What the tests before an opening say of the process that opens: whether a forked worker opens again for itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language import classes, conditions
from dllint.code.language.links import parent
from dllint.code.language.scopes import Scope, last_name
from dllint.code.workers import state
from dllint.code.workers.reach import Step

if TYPE_CHECKING:
    from dllint.code.facts import WorkerEntry

_ASKS_FOR_PROCESS = frozenset({"getpid", "get_worker_info", "current_process"})
_RESETS = ("register_at_fork", "register_after_fork")
_OF_WORKERS = ("worker", "parent")


def is_opened_once(step: Step, node: ast.AST, attribute: str) -> bool:
    """Whether it is opened only where the attribute has nothing, in any process."""
    tests = [ast.unparse(test) for test, _ in _tests(step, node)]
    if any("pid" in test or "worker" in test for test in tests):
        return False
    return not is_for_some_process(step, node) and any(attribute in test for test in tests)


def is_for_some_process(step: Step, node: ast.AST) -> bool:
    """Whether a test of the process or worker decides whether a node is reached."""
    return any(state.is_conditional_on_process(place) for _, place in step.hops(node))


def is_opened_by_process(step: Step, node: ast.AST) -> bool:
    """Whether it is opened where this process has not opened it yet, main among them: `if self.pid != os.getpid()`."""
    tests = [ast.unparse(test) for test, _ in _tests(step, node)]
    return any("getpid()" in test for test in tests) and not any(word in test for test in tests for word in _OF_WORKERS)


def is_shut_out(entry: WorkerEntry, step: Step, node: ast.AST, attribute: str) -> bool:
    """Whether a test of the process fails of its purpose: `if self.file is None and self.pid != os.getpid()` lets
    nobody open again who has inherited an open file."""
    shut = [test for test, outcome in _tests(step, node) if _with_open(test, attribute) is (not outcome)]
    if not any("getpid()" in ast.unparse(test) for test in shut) or any(
        word in ast.unparse(test) for test, _ in _tests(step, node) for word in _OF_WORKERS
    ):
        return False
    return not any(
        _resets(scope, attribute, node) or any(_asks_elsewhere(call, shut) for call in scope.index().calls)
        for scope in _scopes_of_class(entry, step)
    )


def _with_open(test: ast.expr, attribute: str) -> bool | None:
    """How a test comes out where the attribute holds something; None if that depends on something else."""
    if isinstance(test, ast.BoolOp):
        found = [_with_open(part, attribute) for part in test.values]
        decisive = isinstance(test.op, ast.Or)
        if decisive in found:
            return decisive
        return None if None in found else not decisive
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _with_open(test.operand, attribute)
        return None if inner is None else not inner
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and _holds(test.left, attribute):
        other = test.comparators[0]
        if isinstance(other, ast.Constant) and other.value is None and isinstance(test.ops[0], (ast.Is, ast.IsNot)):
            return isinstance(test.ops[0], ast.IsNot)
        return None
    is_asked = isinstance(test, ast.Call) and last_name(test) == "hasattr" and _names(test, attribute)
    return True if is_asked or _holds(test, attribute) else None


def _holds(node: ast.expr, attribute: str) -> bool:
    """`self.file`, or `getattr(self, "file", None)`."""
    if isinstance(node, ast.Call):
        return last_name(node) == "getattr" and _names(node, attribute)
    return isinstance(node, ast.Attribute) and node.attr == attribute


def _names(call: ast.Call, attribute: str) -> bool:
    name = call.args[1] if len(call.args) > 1 else None
    return isinstance(name, ast.Constant) and name.value == attribute


def _resets(scope: Scope, attribute: str, node: ast.AST) -> bool:
    """Whether a function stores something else in the attribute."""
    return any(write.name == attribute and write.node is not node for write in scope.index().writes)


def _asks_elsewhere(call: ast.Call, tests: list[ast.expr]) -> bool:
    """Whether a call asks for the process, and not to note it or in one of these tests."""
    if last_name(call) not in _ASKS_FOR_PROCESS:
        return False
    around = parent(call)
    if isinstance(around, ast.Tuple):
        around = parent(around)
    noted = isinstance(around, (ast.Assign, ast.AnnAssign))
    return not noted and not any(call is part for test in tests for part in ast.walk(test))


def asks_for_process(entry: WorkerEntry, step: Step) -> bool:
    """Whether worker code of the class asks which process it runs in: it may reset there what another has opened."""
    scopes = _scopes_of_class(entry, step)
    return any(last_name(call) in _ASKS_FOR_PROCESS for scope in scopes for call in scope.index().calls)


def is_reset_by_fork(entry: WorkerEntry, step: Step) -> bool:
    """Whether a forked process is told to let go of what it inherits: `os.register_at_fork(after_in_child=...)`."""
    receiver = step.frame.receiver
    bases = classes.project_mro(entry.program.evaluator, receiver.cls) if receiver is not None else ()
    modules = {step.scope.module, *(base.module for base in bases)}
    if entry.dataset is not None:
        modules |= {loader.frame.scope.module for loader in entry.dataset.working_loaders}
    return any(module.lines_with(word) for module in modules for word in _RESETS)


def _scopes_of_class(entry: WorkerEntry, step: Step) -> Iterator[Scope]:
    """Worker code of the class of a step, and of the classes by which it is reached."""
    owners = {at.scope.owner for at, _ in step.hops(step.scope.node)}
    on_the_way = {id(at.scope) for at, _ in step.hops(step.scope.node)}
    for at in entry.code.steps:
        if id(at.scope) in on_the_way or (at.scope.owner is not None and at.scope.owner in owners):
            yield at.scope


def _tests(step: Step, node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    for _, place in step.hops(node):
        yield from conditions.leading_to(place)
