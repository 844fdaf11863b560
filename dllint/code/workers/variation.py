"""What changes from one item of a dataset to the next, and what is proven to stay the same.

Both are claims, so there are three answers: True for what derives from the index of the item, False for what is the
same for all items, None for what is not known.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dllint.code import apis
from dllint.code.language import classes
from dllint.code.language.bindings import Binding
from dllint.code.language.callables import callable_method
from dllint.code.language.parameters import passed
from dllint.code.language.reaching import reaching
from dllint.code.language.scopes import ClassScope, FunctionScope, ModuleScope, Scope, dotted, last_name
from dllint.code.language.values import ClassRef, External, Frame, Function, Instance, Value
from dllint.code.workers.reach import Step, WorkerCode

if TYPE_CHECKING:
    from dllint.code.program import Program

BY_INDEX = frozenset({"__getitem__", "__getitems__", "get"})
"""Methods of a dataset that take the index of the item."""
_DEEPEST = 12
_SHARING_OPERATORS = (ast.Mod, ast.FloorDiv, ast.BitAnd, ast.RShift, ast.Compare, ast.Not)
"""`index // per_shard`, `index > 9`: many items have the same result."""


class Variation:
    """Tells of the expressions of one worker code whether they change with the item."""

    def __init__(self, program: Program, code: WorkerCode) -> None:
        self.program = program
        self.code = code
        self._depth = 0

    def of(self, node: ast.AST | None, step: Step) -> bool | None:
        """Whether an expression in a function of worker code changes with the item; None if that is not known."""
        if node is None or self._depth > _DEEPEST:
            return None
        self._depth += 1
        try:
            return self._of(node, step)
        finally:
            self._depth -= 1

    def _of(self, node: ast.AST, step: Step) -> bool | None:
        if isinstance(node, ast.Constant):
            return False
        if isinstance(node, ast.Name):
            return self._name(node, step)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, step)
        if isinstance(node, ast.Call):
            return self._call(node, step)
        if isinstance(node, ast.Subscript):
            return self.together((node.value, node.slice), step)
        parts = _PARTS.get(type(node))
        found = None if parts is None else self.together(parts(node), step)
        return None if found and self._is_shared(node, step) else found

    def _is_shared(self, node: ast.AST, step: Step) -> bool:
        """Whether what is made of the index is the same for many items: a remainder, a comparison, one of two cases."""
        if isinstance(node, ast.IfExp):
            return self.together((node.body, node.orelse), step) is False
        if not isinstance(getattr(node, "op", node), _SHARING_OPERATORS):
            return False
        return not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and self._is_count(node.right, step))

    def _is_count(self, node: ast.expr, step: Step) -> bool:
        """Whether a divisor is as many as there are items: `len(self)`, or a length that `__len__` speaks of."""
        if not isinstance(node, ast.Call) or last_name(node) != "len" or len(node.args) != 1:
            return False
        if step.scope.owner is None:
            return False
        counted = classes.method(self.program.evaluator, step.scope.owner, "__len__")
        own = [] if counted is None else [call for call in counted.calls if last_name(call) == "len"]
        text = dotted(node.args[0])
        return bool(text) and (text == step.scope.receiver_name or text in (dotted(c.args[0]) for c in own if c.args))

    def together(self, nodes: Iterable[ast.AST], step: Step) -> bool | None:
        """Whether something made of several parts changes: with one of them; not, if none of them does."""
        found = [self.of(node, step) for node in nodes]
        if any(found):
            return True
        return None if None in found else False

    def is_index(self, node: ast.AST | None, step: Step) -> bool:
        """Whether an expression is the index of the item, or is made of it and of nothing that is looked up by it."""
        parts = [part for part in ast.walk(node) if isinstance(part, ast.Name)] if node is not None else []
        looked_up = node is None or any(isinstance(part, ast.Subscript) for part in ast.walk(node))
        if looked_up or self.of(node, step) is not True:
            return False
        return all(self._names_index(part, step) for part in parts if self.of(part, step) is True)

    def _names_index(self, node: ast.Name, step: Step) -> bool:
        bindings = step.scope.index().bindings.get(node.id, ())
        reached = reaching(list(bindings), node) if bindings else []
        return bool(reached) and all(self._binds_index(binding, step) for binding in reached)

    def _binds_index(self, binding: Binding, step: Step) -> bool:
        if binding.kind == "assign":
            return self.is_index(binding.value, step)
        if binding.kind != "parameter" or step.parent is None:
            return binding.kind == "parameter"
        if isinstance(step.call, ast.Subscript):
            return self.is_index(step.call.slice, step.parent)
        if not isinstance(step.call, ast.Call) or not self.is_called(step):
            return False
        return self.is_index(passed(binding.name, step.scope, step.call)[0], step.parent)

    # Names

    def _name(self, node: ast.Name, step: Step) -> bool | None:
        scope: Scope = step.scope
        bindings = scope.index().bindings.get(node.id)
        if bindings and bindings[0].kind != "global":
            return self.agreed([self._binding(binding, step) for binding in reaching(bindings, node)])
        return self._outside(node.id, scope)

    @staticmethod
    def agreed(found: list[bool | None]) -> bool | None:
        """The answer that several ways have in common."""
        return found[0] if found and all(one is found[0] for one in found) else None

    def _binding(self, binding: Binding, step: Step) -> bool | None:
        if binding.kind == "parameter":
            return self.parameter(binding.name, step)
        if binding.kind in ("assign", "item", "with"):
            return self.of(binding.value, step)
        return False if binding.kind in ("import", "scope") else None

    def _outside(self, name: str, scope: Scope) -> bool | None:
        """A name of a function around, or of the module: the same for all items, if it is bound once."""
        at = scope.parent
        while at is not None and (isinstance(at, ClassScope) or name not in at.index().bindings):
            at = at.parent
        if at is None:
            return False if name in apis.BUILTINS else None
        if not isinstance(at, ModuleScope) or name in self.filled or b"global " + name.encode() in at.module.data:
            return None
        return False

    def parameter(self, name: str, step: Step) -> bool | None:
        """Whether what a function is given changes, by the call that enters it."""
        if name == step.scope.receiver_name:
            return self.receiver(step)
        if step.parent is None or step.call is None:
            own = [p.arg for p in step.scope.parameters if p.arg != step.scope.receiver_name]
            return True if own[:1] == [name] and step.scope.name in BY_INDEX else None
        if isinstance(step.call, ast.Subscript):
            return self.of(step.call.slice, step.parent)
        if not isinstance(step.call, ast.Call) or not self.is_called(step):
            return None
        given, certain = passed(name, step.scope, step.call)
        if given is not None:
            return self.of(given, step.parent)
        return False if certain and isinstance(step.scope.default(name), ast.Constant) else None

    def is_called(self, step: Step) -> bool:
        """Whether the call that leads to a function is a call of it, not of what it is handed to: `map(f, items)`."""
        if step.parent is None or not isinstance(step.call, ast.Call):
            return False
        found = self.program.evaluator.values(step.call.func, step.parent.frame)
        return bool(found) and all(self._runs(value, step.scope) for value in found)

    def _runs(self, value: Value, scope: Scope) -> bool:
        """Whether calling a value runs a function."""
        if isinstance(value, ClassRef):
            return classes.method(self.program.evaluator, value.cls, "__init__") is scope
        if isinstance(value, Instance):
            return callable_method(self.program, value) is scope
        return isinstance(value, Function) and value.scope is scope

    # Objects

    def receiver(self, step: Step) -> bool | None:
        """Whether a method runs on another object for each item: not on the dataset, nor on what that holds."""
        if step.parent is None:
            return False
        call = step.call
        if isinstance(call, ast.Call) and not self.is_called(step):
            return None
        holder = call.func if isinstance(call, ast.Call) else call
        if step.scope.name == "__init__" and not _is_super(holder):
            return None
        if _is_super(holder):
            return self.receiver(step.parent)
        if isinstance(holder, (ast.Attribute, ast.Subscript)) and step.scope.name != "__call__":
            return self.of(holder.value, step.parent)
        return self.of(holder, step.parent)

    def _attribute(self, node: ast.Attribute, step: Step) -> bool | None:
        holder = self.of(node.value, step)
        if holder is not False:
            return holder
        for value in self.program.evaluator.values(node.value, step.frame):
            if isinstance(value, Instance):
                getter = classes.method(self.program.evaluator, value.cls, node.attr)
                if getter is not None and getter.is_property:
                    return self._returned(Function(getter, value), step, node)
        return None if node.attr in self.written else False

    @cached_property
    def written(self) -> set[str]:
        """The names of all attributes that worker code stores or fills: what they hold may change with the item."""
        stored = (w.name for s in self.code.steps if s.scope.name != "__init__" for w in s.scope.index().writes)
        return set(stored)

    @cached_property
    def filled(self) -> set[str]:
        """The names of the modules' containers that worker code puts something into."""
        scopes = [step.scope.index() for step in self.code.steps]
        return {name for scope in scopes for name in scope.filled if name not in scope.bindings}

    # Calls

    def _call(self, node: ast.Call, step: Step) -> bool | None:
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in apis.PURE_METHODS:
            return self.together((function.value, *given), step)
        found = self.program.evaluator.values(function, step.frame)
        if all(isinstance(v, External) and v.name in apis.PURE_FUNCTIONS for v in found):
            return self.together(given, step) if given else False
        if len(found) == 1 and isinstance(found[0], Function):
            return self._returned(found[0], step, node)
        return None

    def _returned(self, function: Function, step: Step, call: ast.AST) -> bool | None:
        scope = function.scope
        if not isinstance(scope, FunctionScope) or scope.is_generator:
            return None
        inner = Step(scope, Frame(scope, function.receiver), "", step, call)
        results = [returned.value for returned in scope.index().returns]
        if isinstance(scope.node, ast.Lambda):
            results = [scope.node.body]
        return self.agreed([self.of(result, inner) for result in results])


def _is_super(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call) and last_name(node.value) == "super"


_PARTS: dict[type[ast.AST], Callable[[Any], Iterable[ast.AST]]] = {
    ast.JoinedStr: lambda node: node.values,
    ast.FormattedValue: lambda node: (node.value,),
    ast.Tuple: lambda node: node.elts,
    ast.List: lambda node: node.elts,
    ast.BinOp: lambda node: (node.left, node.right),
    ast.UnaryOp: lambda node: (node.operand,),
    ast.BoolOp: lambda node: node.values,
    ast.Compare: lambda node: (node.left, *node.comparators),
    ast.IfExp: lambda node: (node.test, node.body, node.orelse),
    ast.Starred: lambda node: (node.value,),
    ast.NamedExpr: lambda node: (node.value,),
}
"""The parts that an expression is made of."""
