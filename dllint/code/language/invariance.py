"""Whether an expression gives an equal thing in each turn of a loop: then making it there is making it again."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from dllint.code.language import classes, loops
from dllint.code.language.links import scope_of
from dllint.code.language.scopes import ClassScope, FunctionScope, Scope, dotted, last_name
from dllint.code.language.values import ClassRef, External, Frame, Function, Instance, Partial, Value
from dllint.records import dataclass, field

if TYPE_CHECKING:
    from dllint.code.program import Program

_DEEPEST = 4
_VARYING = (
    "random.",
    "numpy.random.",
    "secrets.",
    "time.",
    "datetime.",
    "glob.",
    "os.listdir",
    "os.scandir",
    "os.walk",
    "torch.rand",
    "torch.normal",
    "torch.multinomial",
    "torch.bernoulli",
    "torch.utils.data.random_split",
    "sklearn.",
    "builtins.next",
    "builtins.input",
    "builtins.open",
)
"""Library functions that give something else each time, or what lies on disk by then."""
_VARYING_METHODS = frozenset(
    ["random", "rand", "randn", "randint", "randperm", "permutation", "shuffle", "choice", "choices", "sample", "glob"]
)
"""Last names of calls in the project's own functions by which these give something else each time."""
_ONLY_LOOK = frozenset({"len", "print", "isinstance", "repr", "str", "id", "type"})
_MAKING = frozenset({"__init__", "__post_init__", "setup", "build", "prepare_data"})
"""Methods that set up an object, once."""
_PLAIN = (
    ast.Tuple,
    ast.List,
    ast.Set,
    ast.Dict,
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.Subscript,
    ast.Slice,
    ast.Starred,
    ast.JoinedStr,
    ast.FormattedValue,
)
"""Expressions that are equal when their parts are."""


@dataclass
class Turns:
    """The turns of one loop. What cannot be told is taken to change."""

    program: Program
    loop: loops.Loop
    frame: Frame
    """The frame that the loop stands in."""
    _active: set[int] = field(default_factory=set)

    def keep(self, node: ast.AST, depth: int = 0) -> bool:
        """Whether `node`, an expression in the loop's body, gives an equal thing in each turn."""
        if isinstance(node, (ast.Constant, ast.Lambda)):
            return True
        if id(node) in self._active or depth > _DEEPEST:
            return False
        self._active.add(id(node))
        try:
            if isinstance(node, ast.Name):
                return self._keeps_name(node, depth)
            if isinstance(node, ast.Attribute):
                return self._keeps_attribute(node, depth)
            if isinstance(node, ast.Call):
                return self._keeps_call(node, depth)
            return isinstance(node, _PLAIN) and self._keep_all(ast.iter_child_nodes(node), depth)
        finally:
            self._active.discard(id(node))

    def _keep_all(self, nodes: Iterable[ast.AST], depth: int) -> bool:
        return all(self.keep(node, depth) for node in nodes if isinstance(node, ast.expr))

    def _keeps_name(self, node: ast.Name, depth: int) -> bool:
        if self._is_touched(node.id):
            return False
        inside = [b for b in scope_of(self.loop).bindings.get(node.id, ()) if loops.holds(self.loop, b.node)]
        if node.id not in loops.bound_in(self.loop):
            return True
        values = [binding.value for binding in inside if binding.kind == "assign"]
        return (
            bool(inside) and len(values) == len(inside) and all(v is not None and self.keep(v, depth) for v in values)
        )

    def _keeps_attribute(self, node: ast.Attribute, depth: int) -> bool:
        text = dotted(node)
        if not text:
            return False
        if text in loops.bound_in(self.loop) or self._is_touched(text):
            return False
        root = text.partition(".")[0]
        scope = scope_of(self.loop)
        if isinstance(scope, FunctionScope) and root == scope.receiver_name and scope.owner is not None:
            return not self._is_replaced(scope.owner, text.split(".")[1])
        return self.keep(node.value, depth)

    def _is_replaced(self, owner: ClassScope, name: str) -> bool:
        """Whether methods other than those that make the object store this attribute."""
        here = scope_of(self.loop)
        for cls in classes.project_mro(self.program.evaluator, owner):
            for method in cls.methods.values():
                stores = any(write.name == name for write in method.index().writes)
                if stores and method.name not in _MAKING and method is not here:
                    return True
        return False

    def _is_touched(self, text: str) -> bool:
        """Whether the loop's body may change what a name holds: by a method of it, a write to it, handing it out."""
        scope = scope_of(self.loop)
        written = (write for write in scope.writes if loops.holds(self.loop, write.node))
        if any(dotted(write.target).startswith(f"{text}.") or dotted(write.target.value) == text for write in written):
            return True
        if any(loops.holds(self.loop, binding.node) for binding in scope.filled.get(text, ())):
            return True
        return any(self._hands_out(call, text) for call in scope.calls if loops.holds(self.loop, call))

    def _hands_out(self, call: ast.Call, text: str) -> bool:
        if isinstance(call.func, ast.Attribute) and dotted(call.func.value) == text:
            holders = self.program.evaluator.values(call.func.value, self.frame)
            return not all(isinstance(holder, External) for holder in holders)
        if last_name(call.func) in _ONLY_LOOK or id(call) in self._active:
            return False
        return any(dotted(argument) == text for argument in call.args) and not self._makes_object(call)

    def _makes_object(self, call: ast.Call) -> bool:
        """Whether a call makes an object that only reads what it is given: a dataset, a sampler, a loader."""
        found = self.program.evaluator.values(call.func, self.frame)
        return any(isinstance(v, ClassRef) or (isinstance(v, External) and v.name.startswith("torch.")) for v in found)

    def _keeps_call(self, node: ast.Call, depth: int) -> bool:
        if not self._keep_all([*node.args, *(k.value for k in node.keywords)], depth):
            return False
        if not self._calls_the_same(node.func, depth):
            return False
        found = self.program.evaluator.values(node.func, self.frame)
        return all(self._gives_equal(value, depth) for value in found)

    def _calls_the_same(self, function: ast.expr, depth: int) -> bool:
        """Whether each turn calls the same, and not what the loop goes through: `for cls in (A, B): cls()`."""
        root = dotted(function).partition(".")[0]
        if not root or root not in loops.bound_in(self.loop):
            return True
        holder = function
        while isinstance(holder, ast.Attribute):
            holder = holder.value
        return self.keep(holder, depth)

    def _gives_equal(self, function: Value, depth: int) -> bool:
        """Whether calling this with equal arguments gives an equal thing."""
        if isinstance(function, External):
            return not function.name.startswith(_VARYING)
        if isinstance(function, Partial):
            return self._gives_equal(function.target, depth)
        if isinstance(function, ClassRef):
            first = classes.method(self.program.evaluator, function.cls, "__init__")
            return first is None or self._is_plain(first)
        if isinstance(function, Function):
            return self._is_plain(function.scope) and self._reads_what_stays(function)
        return False

    def _is_plain(self, scope: Scope, depth: int = 0) -> bool:
        """Whether nothing in a function's body draws at random, or looks at the disk."""
        frame = Frame(scope)
        for call in scope.index().calls:
            if last_name(call.func) in _VARYING_METHODS:
                return False
            for value in self.program.evaluator.values(call.func, frame):
                if isinstance(value, External) and value.name.startswith(_VARYING):
                    return False
                if isinstance(value, Function) and (depth > 2 or not self._is_plain(value.scope, depth + 1)):
                    return False
        return True

    def _reads_what_stays(self, function: Function) -> bool:
        """Whether a method reads only attributes that are stored while the object is made."""
        receiver, name = function.receiver, function.scope.receiver_name
        if receiver is None or name is None:
            return True
        own = {
            node.attr
            for node in function.scope.attributes
            if isinstance(node.value, ast.Name) and node.value.id == name and isinstance(node.ctx, ast.Load)
        }
        owner = receiver.cls if isinstance(receiver, Instance) else None
        return owner is not None and not any(self._is_replaced(owner, attribute) for attribute in own)
