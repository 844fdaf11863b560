"""Whether control can come to the end of a function's body, where it returns None without saying so."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from enum import IntEnum

from dllint.code.language.links import scope_of
from dllint.code.language.scopes import FunctionScope, last_name, origin_name


class Passes(IntEnum):
    """Whether control gets past some statements; of several in a row the least holds."""

    NEVER = 0
    MAYBE = 1
    """Only if an option is so, or a loop finds nothing: nobody may ever mean that to happen."""
    BY_DATA = 2
    """For some data: a test of what the function is given, an exception that is swallowed."""
    ALWAYS = 3


_ENDINGS = frozenset({"exit", "_exit", "abort", "fail", "skip"})
_MAY_RAISE = ("raise", "throw", "die", "abort", "fail")
_TYPE_TESTS = frozenset({"isinstance", "issubclass", "hasattr", "callable", "is_tensor"})


def end_of(scope: FunctionScope) -> Passes:
    """Whether a function comes to its end without a return."""
    if isinstance(scope.node, ast.Lambda):
        return Passes.NEVER
    return _Walk(scope).past(scope.node.body)


def depends_on_data(scope: FunctionScope, test: ast.expr) -> bool:
    """Whether a test speaks of what a function is given or finds, and not only of the object's options or of types."""
    if any(isinstance(part, ast.Call) and last_name(part) in _TYPE_TESTS for part in ast.walk(test)):
        return False
    bindings = scope.index().bindings
    names = {part.id for part in ast.walk(test) if isinstance(part, ast.Name)} - {scope.receiver_name}
    own = any(binding.kind != "import" for name in names for binding in bindings.get(name, ()))
    return own or any(isinstance(part, ast.Call) for part in ast.walk(test))


class _Walk:
    def __init__(self, scope: FunctionScope) -> None:
        self.scope = scope

    def past(self, statements: Sequence[ast.stmt]) -> Passes:
        """Whether control gets past these statements."""
        found = Passes.ALWAYS
        for statement in statements:
            if isinstance(statement, (ast.Continue, ast.Break)):
                return found
            found = min(found, self._past_one(statement))
            if found is Passes.NEVER:
                return found
        return found

    def _past_one(self, node: ast.stmt) -> Passes:
        if isinstance(node, (ast.Return, ast.Raise)):
            return Passes.NEVER
        if isinstance(node, ast.If):
            return self._past_if(node)
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            return self._past_loop(node)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            return self._past_with(node)
        if hasattr(node, "handlers"):
            return self._past_try(node)
        if isinstance(node, ast.Match):
            return Passes.MAYBE if _returns(node) else Passes.ALWAYS
        if isinstance(node, ast.Assert):
            return Passes.NEVER if isinstance(node.test, ast.Constant) and not node.test.value else Passes.ALWAYS
        return _past_expression(node)

    def _past_if(self, node: ast.If) -> Passes:
        body, other = self.past(node.body), self.past(node.orelse)
        if isinstance(node.test, ast.Constant):
            return body if node.test.value else other
        best = max(body, other)
        if best is not Passes.ALWAYS or min(body, other) is not Passes.NEVER:
            return best
        several = len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)
        data = depends_on_data(self.scope, node.test) and not several
        return Passes.BY_DATA if data and not self._is_further_arm(node) else Passes.MAYBE

    def _is_further_arm(self, node: ast.If) -> bool:
        """Whether it is the `elif` of another `if`: its arms are meant to be all there are."""
        around = getattr(node, "dll_parent", None)
        return isinstance(around, ast.If) and len(around.orelse) == 1 and around.orelse[0] is node

    def _past_loop(self, node: ast.For | ast.AsyncFor | ast.While) -> Passes:
        if not _returns(node):
            endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
            return Passes.NEVER if endless and not _breaks(node) else Passes.ALWAYS
        if isinstance(node, ast.While) and isinstance(node.test, ast.Constant):
            return Passes.MAYBE if _breaks(node) else Passes.NEVER
        if node.orelse and not _breaks(node):
            return self.past(node.orelse)
        counted = isinstance(node, ast.For) and isinstance(node.iter, ast.Call) and last_name(node.iter) == "range"
        if counted and any(hasattr(s, "handlers") for s in node.body) and self.past(node.body) is Passes.BY_DATA:
            return Passes.MAYBE if _ends_with_last(node) else Passes.BY_DATA  # so many attempts, and each may fail
        return Passes.MAYBE

    def _past_with(self, node: ast.With | ast.AsyncWith) -> Passes:
        body = self.past(node.body)
        suppresses = any(origin_name(item.context_expr, scope_of(node)) == "suppress" for item in node.items)
        return Passes.BY_DATA if suppresses and body is Passes.NEVER else body

    def _past_try(self, node: ast.stmt) -> Passes:
        body, orelse = getattr(node, "body", []), getattr(node, "orelse", [])
        if self.past(getattr(node, "finalbody", [])) is Passes.NEVER:
            return Passes.NEVER
        normal = self.past([*body, *orelse])
        caught = [self.past(handler.body) for handler in getattr(node, "handlers", [])]
        if normal is Passes.NEVER and any(found is Passes.ALWAYS for found in caught):
            return Passes.BY_DATA
        return max([normal, *caught])


def _past_expression(node: ast.stmt) -> Passes:
    """`sys.exit()` ends; what is called `raise_...` may."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return Passes.ALWAYS
    name = last_name(node.value)
    if name in _ENDINGS:
        return Passes.NEVER
    return Passes.MAYBE if name.lstrip("_").startswith(_MAY_RAISE) else Passes.ALWAYS


def _ends_with_last(loop: ast.AST) -> bool:
    """Whether a loop leaves the function by its number of turns: `if attempt == tries - 1: raise`."""
    counter = loop.target.id if isinstance(loop, ast.For) and isinstance(loop.target, ast.Name) else None
    tests = [part for part in ast.walk(loop) if isinstance(part, ast.If) and _returns(part)]
    return any(isinstance(n, ast.Name) and n.id == counter for part in tests for n in ast.walk(part.test))


def _returns(node: ast.stmt) -> bool:
    return any(isinstance(part, (ast.Return, ast.Raise)) for part in ast.walk(node))


def _breaks(node: ast.stmt) -> bool:
    return any(isinstance(part, ast.Break) for part in ast.walk(node))
