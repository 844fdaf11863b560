"""The calls of `set_start_method`, and what has settled the start method before them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.apis.contexts import SETTLES, last_of
from dllint.code.language import conditions, loops
from dllint.code.language.links import block_of
from dllint.code.language.scopes import FunctionScope, ModuleScope, Scope
from dllint.code.language.values import Const, Derived, External, Frame, Product, Value, Values
from dllint.code.loaders.loader import Loader
from dllint.code.processes import effects, scripts, start_method
from dllint.code.processes.effects import Effect
from dllint.code.workers import exceptions

if TYPE_CHECKING:
    from dllint.code.program import Program

_STARTS = (b"Process(", b".spawn(", b"Pool(", b"start_processes(", b"ProcessPoolExecutor(")
_MOST_CALLS = 2
"""Functions around a call that are followed."""
_RAISED = frozenset({"RuntimeError"})


class StartMethodCall:
    """One call of `multiprocessing.set_start_method`."""

    def __init__(self, program: Program, call: ast.Call, scope: Scope) -> None:
        self.program = program
        self.call = call
        self.scope = scope
        self.frame = Frame(scope)

    @property
    def path(self) -> str:
        """The file that it stands in."""
        return self.scope.module.path

    @cached_property
    def names(self) -> Values:
        """The method that it asks for."""
        given = self._argument("method", 0)
        return self.program.evaluator.values(given, self.frame) if given is not None else ()

    @property
    def unknown_name(self) -> str:
        """The name that no start method has, if it certainly asks for such a one."""
        constants = [value.value for value in self.names if isinstance(value, Const)]
        wrong = [name for name in constants if isinstance(name, str) and name not in start_method.METHODS]
        return wrong[0] if wrong and len(wrong) == len(self.names) else ""

    @property
    def may_pickle(self) -> bool:
        """Whether it asks for a method by which children import the script again."""
        return any(isinstance(value, Const) and value.value in start_method.PICKLING for value in self.names)

    @property
    def is_safe(self) -> bool:
        """Whether it may be made twice: forced, in a `try`, or after asking what is set."""
        force = self._argument("force", 1)
        if force is not None and not (isinstance(force, ast.Constant) and not force.value):
            return True
        if exceptions.is_caught_here(self.program, self.call, self.frame, _RAISED) or self.scope.module.is_test:
            return True
        return any(_asks_only(part) for test, _ in conditions.leading_to(self.call) for part in ast.walk(test))

    def _argument(self, name: str, position: int) -> ast.expr | None:
        given = next((k.value for k in self.call.keywords if k.arg == name), None)
        return self.call.args[position] if given is None and position < len(self.call.args) else given

    def unguarded(self) -> ast.AST | None:
        """Where it is reached whenever its module is imported, and so by every child again."""
        if self.scope.module.is_notebook:
            return None
        if isinstance(self.scope, ModuleScope):
            return None if conditions.is_guarded(self.call) else self.call
        if not isinstance(self.scope, FunctionScope):
            return None
        sites = [(c, f) for c, f in self.program.call_sites(self.scope) if isinstance(f.scope, ModuleScope)]
        return next((c for c, f in sites if not conditions.is_guarded(c) and not f.scope.module.is_test), None)

    @property
    def children_follow(self) -> bool:
        """Whether the program starts processes at all."""
        if any(not loader.defaults_to_no_workers for loader in self.program.facts.loaders):
            return True
        return any(word in module.data for module in self.program.importers(self.scope.module) for word in _STARTS)

    def settled(self) -> tuple[Effect, str] | None:
        """What has settled the start method before, and how it is called."""
        for effect in effects.earlier(self.program, self.call, self.frame, follows=_may_come_second):
            what = _settles(self.program, effect)
            if what:
                return effect, what
        return None

    def repeated(self) -> tuple[ast.AST, Scope] | None:
        """The loop that makes it again in each turn, itself or by calling its function, and where that stands."""
        return _repeated(self.program, self.call, self.frame, 0)


def _repeated(program: Program, node: ast.AST, frame: Frame, depth: int) -> tuple[ast.AST, Scope] | None:
    for loop in loops.around(node):
        if not _is_in_each_turn(node, loop):
            return None
        if isinstance(loop, ast.For) and not loops.runs_once(program, loop, frame):
            return loop, frame.scope
    if not isinstance(frame.scope, FunctionScope) or depth >= _MOST_CALLS or block_of(node).parent is not None:
        return None
    sites = program.call_sites(frame.scope)
    found = (_repeated(program, call, site, depth + 1) for call, site in sites if not site.scope.module.is_test)
    return next((one for one in found if one is not None), None)


def _may_come_second(call: ast.Call) -> bool:
    """Whether nothing asks before a call whether it is still to be made: `if not is_initialized(): set_up()`."""
    return not any(_is_denied(test, outcome) for test, outcome in conditions.leading_to(call))


def _is_denied(test: ast.expr, outcome: bool) -> bool:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _is_denied(test.operand, not outcome)
    if isinstance(test, ast.Compare):
        return outcome and isinstance(test.ops[0], ast.Is) and ast.unparse(test.comparators[0]) == "None"
    return not outcome


def _is_in_each_turn(node: ast.AST, loop: ast.AST) -> bool:
    """Whether nothing within a loop decides whether its turns come to a statement, or whether there is a second one."""
    leaves = (ast.Break, ast.Return, ast.Raise, ast.Continue)
    is_left = any(isinstance(part, leaves) for part in ast.walk(loop))
    return not is_left and getattr(block_of(node), "owner", None) is loop


def find(program: Program) -> Iterator[StartMethodCall]:
    """All calls of `set_start_method`."""
    for module in program.parsed_seeds:
        if b"set_start_method" not in module.data:
            continue
        for call, scope in module.calls_of("set_start_method"):
            found = program.evaluator.values(call.func, Frame(scope))
            if any(isinstance(v, External) and last_of(v.name) == "set_start_method" for v in found):
                yield StartMethodCall(program, call, scope)


def _asks_only(node: ast.AST) -> bool:
    """`get_start_method(allow_none=True)` settles nothing."""
    return isinstance(node, ast.Call) and any(k.arg == "allow_none" for k in node.keywords)


def _settles(program: Program, effect: Effect) -> str:
    """How the call or loop is called that settles the default start method; an empty string if it does not."""
    node = effect.node
    if not isinstance(node, ast.Call):
        return _iterates(program, node, effect.frame)
    for value in program.evaluator.values(node.func, effect.frame):
        what = _settled_by(value, node)
        if what:
            return what
    return ""


def _settled_by(function: Value, call: ast.Call) -> str:
    if isinstance(function, Derived):
        process = (
            function.via == ".start" and isinstance(function.base, Product) and function.base.name in apis.PROCESSES
        )
        return "Process.start()" if process else ""
    if not isinstance(function, External):
        return ""
    last = last_of(function.name)
    given = bool(call.args or call.keywords)
    if last == "get_start_method" and not _allows_none(call):
        return "get_start_method()"
    if last == "set_start_method" or last in SETTLES:
        return f"{last}()"
    if last == "get_context" and not given:
        return "get_context()"
    executor = function.name.endswith(".ProcessPoolExecutor") and not any(k.arg == "mp_context" for k in call.keywords)
    return "ProcessPoolExecutor()" if executor else ""


def _allows_none(call: ast.Call) -> bool:
    arguments = [*call.args, *(k.value for k in call.keywords)]
    return any(not (isinstance(node, ast.Constant) and not node.value) for node in arguments)


def _iterates(program: Program, node: ast.AST, frame: Frame) -> str:
    """A loop over a loader whose workers start by the default method."""
    for start in scripts.starts(program, frame.scope, frame):
        if start.node is node and start.loader is not None and _by_default(start.loader):
            return "the loop over a loader"
    return ""


def _by_default(loader: Loader) -> bool:
    return loader.option("multiprocessing_context").absent is True and not start_method.uses_threads(loader)
