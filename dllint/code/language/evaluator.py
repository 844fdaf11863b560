"""What an expression can be: names followed to their bindings, parameters to the calls, attributes to what is written.

Nothing is run. Each question has a budget, so that cycles, deep nesting and huge tables end in "unknown".
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dllint.code import apis
from dllint.code.language import classes, conditions, displays, elements, folding, libcalls, options, results, together
from dllint.code.language.bindings import AttributeWrite, Binding
from dllint.code.language.callables import callable_method
from dllint.code.language.hyperparameters import hyperparameter, of_unknown
from dllint.code.language.links import Condition, scope_of
from dllint.code.language.parameters import parameter
from dllint.code.language.reaching import reaching
from dllint.code.language.scopes import ClassScope, FunctionScope, ModuleScope, Scope, dotted
from dllint.code.language.values import (
    UNKNOWNS,
    ClassRef,
    Collection,
    Const,
    Derived,
    External,
    Frame,
    Function,
    Instance,
    ModuleRef,
    Partial,
    Product,
    Super,
    Unknown,
    Value,
    Values,
    derived,
    merge,
)

if TYPE_CHECKING:
    from dllint.code.language.modules import Module
    from dllint.code.program import Program

_MOST_STEPS = 300
"""Evaluation steps for one question."""
_NOTHING = 1 << 30
"""No depth: beyond the deepest."""
_ADDED = (ast.List, ast.Tuple, ast.ListComp, ast.Call)
"""What stands right of a `+=` that makes a container longer."""
_FEW_STEPS = 60
"""Evaluation steps for a question whose answer is rarely of use."""
_DEEPEST = 70
"""Nested evaluations: each takes some frames of Python's own stack."""
_MOST_RETURNS = 3
"""Functions within functions whose results are followed."""


class Evaluator:
    """Answers `values(expression, frame)` for one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._memo: dict[tuple[int, int], Values] = {}
        self._cut_short: dict[tuple[int, int], Values] = {}
        """What was found when the budget of a larger question ended: good enough within other questions."""
        self._partial: dict[tuple[int, int], tuple[int, Values]] = {}
        """What was found within a cycle, or so deep within calls that not all was looked at, with the number of these
        calls: good enough where there are as many."""
        self._active: dict[tuple[int, int], int] = {}
        """What is being found out, with the depth at which it is asked for."""
        self._leans_on = _NOTHING
        """The least depth of what is being found out that an answer just found leans on: a cycle leads there."""
        self._globals: dict[tuple[int, str], Values] = {}
        self.option_calls: dict[Module, dict[str, list[tuple[ast.Call, Scope]]]] = {}
        self.option_modules: dict[str, list[Module]] = {}
        """Where options of the command line are declared: see `options`."""
        self.settling: dict[int, tuple[list[Condition], tuple[Condition, ...]]] = {}
        """Of the tests on the way to a block those that may ask for what the source itself settles: see `settled`. By
        the identity of the list of all of them, which is kept with these."""
        self._attributes: dict[tuple[object, str], Values] = {}
        self._steps = 0
        self._most = _MOST_STEPS
        self._depth = 0
        self._returns = 0
        self.filling: set[int] = set()  # of which containers it is being found out what is put into them
        self.assumed: list[tuple[str, Value]] = []
        """What a name is taken to be while a condition is tried: see `folding.narrowed`."""

    def values(self, node: ast.AST, frame: Frame) -> Values:
        """What `node` can be in `frame`; never empty."""
        if self._depth == 0:
            self._steps = 0
        return self.infer(node, frame) or UNKNOWNS

    def hint(self, node: ast.AST, frame: Frame) -> Values:
        """What `node` can be, where few steps tell: for many questions that rarely have an answer of use."""
        if self._depth:
            return self.values(node, frame)
        self._most = _FEW_STEPS
        try:
            return self.values(node, frame)
        finally:
            self._most = _MOST_STEPS

    @property
    def is_deep(self) -> bool:
        """Whether half of the nesting that is allowed is used up."""
        return self._depth > _DEEPEST // 2

    # The recursive part

    def infer(self, node: ast.AST, frame: Frame) -> Values:
        """What `node` can be in `frame`; empty within a cycle, which then adds nothing."""
        self._steps += 1
        if self._steps > self._most or self._depth > _DEEPEST:
            return UNKNOWNS
        handler = _HANDLERS.get(type(node))
        if handler is None:
            return UNKNOWNS
        place = (id(node), id(frame))
        if not self.assumed and place in self._memo:
            return self._memo[place]
        if self._depth and not self.assumed and place in self._cut_short:
            return self._cut_short[place]
        if place in self._partial and not self.assumed and self._returns >= self._partial[place][0]:
            self._leans_on = 0
            return self._partial[place][1]
        if place in self._active:
            self._leans_on = min(self._leans_on, self._active[place])
            return ()
        depth, others = self._depth, self._leans_on
        self._active[place], self._leans_on = depth, _NOTHING
        self._depth += 1
        try:
            found = handler(self, node, frame)
        finally:
            self._depth = depth
            del self._active[place]
            is_whole = self._leans_on >= depth
            self._leans_on = others if is_whole else min(others, self._leans_on)
        if self.assumed or not (found or depth == 0):
            return found
        if is_whole or depth == 0:
            self._remember(place, found)
        else:
            self._partial[place] = self._returns, found
        return found

    def _remember(self, place: tuple[int, int], found: Values) -> None:
        if self._steps <= self._most:
            self._memo[place] = found
        elif self._most == _MOST_STEPS:  # a hint that ended early is no answer to a question in earnest
            memo = self._memo if self._depth == 0 else self._cut_short
            memo[place] = found

    def _named(self, node: ast.NamedExpr, frame: Frame) -> Values:
        taken = [value for key, value in self.assumed if isinstance(node.target, ast.Name) and key == node.target.id]
        return (taken[-1],) if taken else self.infer(node.value, frame)

    # Names

    def _name(self, node: ast.Name, frame: Frame) -> Values:
        for key, value in reversed(self.assumed):
            if key == node.id:
                return (value,)
        scope = scope_of(node)
        found = self.lookup(node.id, node, scope, frame)
        if node.id in scope.module.set_by_functions:
            from dllint.code.language import global_changes  # which asks for values itself

            found = global_changes.after_functions(self, node.id, found, node, scope, frame)
        return conditions.narrowed(self, node, found, frame)

    def lookup(self, name: str, use: ast.AST, scope: Scope, frame: Frame) -> Values:
        """What `name` means at `use`, looked up from `scope` outwards."""
        at: Scope | None = scope
        while at is not None:
            visible = at is scope or not isinstance(at, ClassScope)
            bindings = at.index().bindings.get(name) if visible else None
            if bindings and bindings[0].kind == "global":
                bindings, at = scope.module.scope.bindings.get(name), scope.module.scope
            if at is not scope and isinstance(at, ModuleScope) and (bindings or name in at.module.set_by_functions):
                return self._global(at, name, bindings or [])
            if bindings:
                chosen = reaching(bindings, use if at is scope else None)
                home = self.frame_of(at, frame)
                if len(chosen) > 1 and at is scope:
                    chosen = together.compatible(chosen, use, at)
                if len(chosen) == 1:
                    return self.bound(chosen[0], home)
                groups = [(binding, self.bound(binding, home)) for binding in chosen]
                return merge(conditions.survivors(self, name, groups, home))
            at = at.parent
        module = scope.module
        starred = self.program.members.starred(module, name)
        if starred is not None:
            return starred
        return (External(f"builtins.{name}"),) if name in apis.BUILTINS else UNKNOWNS

    def _global(self, scope: ModuleScope, name: str, bindings: list[Binding]) -> Values:
        """A name of the module as its functions see it: the same for all of them."""
        key = (id(scope), name)
        if self.assumed or key not in self._globals:
            home = Frame(scope)
            groups = [(binding, self.bound(binding, home)) for binding in reaching(bindings, None)]
            brought = self.program.members.starred(scope.module, name) if not bindings else ()
            for setter, binding in scope.module.set_by_functions.get(name, ()):
                stored = self.bound(binding, Frame(setter))
                if not all(isinstance(value, Unknown) and value.uncalled for value in stored):
                    groups.append((binding, stored))  # the parameter of a setter that nobody calls is no evidence
            if not groups or brought:
                return brought or UNKNOWNS
            found = merge(conditions.survivors(self, name, groups, home)) if len(groups) > 1 else groups[0][1]
            if self.assumed or not found or self._leans_on < self._depth:
                return found  # within a cycle: not the last word
            self._globals[key] = found
        return self._globals[key]

    @staticmethod
    def frame_of(scope: Scope, frame: Frame) -> Frame:
        """The activation of `scope` that `frame` runs in."""
        at: Frame | None = frame
        while at is not None:
            if at.scope is scope:
                return at
            at = at.outer
        return Frame(scope)

    def bound(self, binding: Binding, frame: Frame) -> Values:
        """What one binding gives its name."""
        kind, value = binding.kind, binding.value
        if kind == "import":
            return self.program.members.imported(binding, frame.scope.module)
        if kind == "scope":
            return self._defined(binding, frame)
        if kind == "parameter":
            return parameter(self, binding.name, frame)
        if value is None or kind in ("unknown", "global"):
            return UNKNOWNS
        if kind == "augmented":
            return self._augmented(value, frame)
        return self._taken(binding, value, self.infer(value, frame), frame)

    def _taken(self, binding: Binding, value: ast.AST, found: Values, frame: Frame) -> Values:
        """What a binding takes out of its value, which can be what was found."""
        taken = self._outermost(binding, value, found, frame)
        for index in binding.inner:
            taken = merge(elements.item(self, v, index, binding.node, frame) for v in taken)
        return taken

    def _outermost(self, binding: Binding, value: ast.AST, found: Values, frame: Frame) -> Values:
        kind = binding.kind
        if kind == "assign":
            return found
        if kind == "item":
            return merge(elements.item(self, v, binding.index, binding.node, frame) for v in found)
        if kind == "each":
            return elements.elements(self, value, found, frame)
        if kind == "each item":
            return elements.parts(self, value, found, binding.index, frame)
        if kind == "with":
            return tuple(self._managed(v, value, frame) for v in found)
        return UNKNOWNS

    def _augmented(self, value: ast.AST, frame: Frame) -> Values:
        assert isinstance(value, ast.AugAssign)
        if isinstance(value.op, ast.Add) and isinstance(value.value, _ADDED):
            return self.infer(value.value, frame)
        return folding.augmented(self, value, frame)

    def _managed(self, value: Value, node: ast.AST, frame: Frame) -> Value:
        if isinstance(value, (Product, Derived)):
            return derived(value, "with", node, frame)
        return value

    def _defined(self, binding: Binding, frame: Frame) -> Values:
        scope = frame.scope.children.get(id(binding.node))
        if isinstance(scope, ClassScope):
            return (ClassRef(scope),)
        if isinstance(scope, FunctionScope):
            outer = frame if isinstance(frame.scope, FunctionScope) else None
            return (Function(scope, None, outer),)
        return UNKNOWNS

    # Attributes and calls

    def _attribute(self, node: ast.Attribute, frame: Frame) -> Values:
        if self.assumed:
            text = dotted(node)
            for key, value in reversed(self.assumed):
                if key == text:
                    return (value,)
        found = merge(self.attribute(value, node.attr, node, frame) for value in self.infer(node.value, frame))
        return conditions.narrowed(self, node, together.narrowed(self, node, found, frame), frame)

    def attribute(self, value: Value, name: str, node: ast.AST, frame: Frame) -> Values:
        """`value.name`."""
        if isinstance(value, ModuleRef):
            return self.program.members.attribute(value.module, name, frame.scope)
        if isinstance(value, External):
            module = self.program.modules.of_namespace(value.name, name, frame.scope.module)
            return options.of_library(self, value, name) if module is None else (ModuleRef(module),)
        if isinstance(value, (Instance, ClassRef, Super)):
            key = (value.key, name)
            if key not in self._attributes or self.assumed:
                found = classes.attribute(self, value, name, node, frame)
                if not found or self.assumed:
                    return found
                self._attributes[key] = found
            return self._attributes[key]
        if isinstance(value, Derived) and value.via == ".parse_args()":
            return options.argparse_option(self, value, name, node, frame)
        if isinstance(value, Derived) and value.via == ".hparams" and isinstance(value.base, Instance):
            return hyperparameter(self, value.base, name)
        if isinstance(value, (Product, Derived, Collection, Const)):
            return libcalls.attribute(self, value, name, node, frame)
        return of_unknown(self, value, name, node, frame) if isinstance(value, Unknown) else UNKNOWNS

    def _call(self, node: ast.Call, frame: Frame) -> Values:
        return merge(self.result(function, node, frame) for function in self.infer(node.func, frame))

    def result(self, function: Value, call: ast.Call, frame: Frame) -> Values:
        """What calling `function` with the arguments of `call` gives."""
        if isinstance(function, External):
            return libcalls.result(self, function.name, call, frame)
        if isinstance(function, ClassRef):
            return (Instance(function.cls, call, frame),)
        if isinstance(function, Function):
            return self.returned(function, call, frame)
        if isinstance(function, Instance):
            method = callable_method(self.program, function)
            return self.returned(Function(method, function), call, frame) if method is not None else UNKNOWNS
        if isinstance(function, Partial):
            return self.result(function.target, libcalls.merged_call(function, call), frame)
        if isinstance(function, Derived) and _is_method(function):
            return libcalls.method_result(self, function, call, frame)
        if isinstance(function, (Product, Derived)):
            return (derived(function, "()", call, frame),)
        if isinstance(function, Unknown) and function.name.endswith("accelerator.prepare"):
            return libcalls.prepared(self, call, frame)
        if isinstance(function, Unknown) and function.name.endswith(".get") and len(call.args) == 2:
            return merge([self.infer(call.args[1], frame), (Unknown(overrides=True),)])
        return UNKNOWNS

    def call_method(self, value: Instance, name: str, node: ast.AST, frame: Frame) -> Values:
        """What calling a method by its name gives."""
        method = classes.method(self, value.cls, name)
        if method is None:
            return UNKNOWNS
        return self.returned(Function(method, value), node if isinstance(node, ast.Call) else None, frame)

    def returned(self, function: Function, call: ast.Call | None, frame: Frame) -> Values:
        """What a project function returns."""
        if self._returns >= _MOST_RETURNS:
            self._leans_on = 0  # asked for by itself, it may be known
            return UNKNOWNS
        self._returns += 1
        try:
            return results.returned(self, function, call, frame)
        finally:
            self._returns -= 1

    def _conditional(self, node: ast.IfExp, frame: Frame) -> Values:
        verdict = folding.verdict(self, node.test, frame)
        branches = [node.body] if verdict is True else [node.orelse] if verdict is False else [node.body, node.orelse]
        return merge(conditions.within(self.infer(branch, frame), branch, node.test) for branch in branches)

    def written(self, write: AttributeWrite, frame: Frame) -> Values:
        """What an attribute write stores."""
        if self._depth == 0:
            self._steps = 0
        return classes.without_itself(self.bound(write.binding, frame), write.name, frame)


_HANDLERS: dict[type[ast.AST], Callable[[Evaluator, Any, Frame], Values]] = {
    ast.Constant: displays.constant,
    ast.Name: Evaluator._name,
    ast.Attribute: Evaluator._attribute,
    ast.Call: Evaluator._call,
    ast.Subscript: elements.subscript,
    ast.Lambda: displays.function,
    ast.List: displays.sequence,
    ast.Tuple: displays.sequence,
    ast.Set: displays.sequence,
    ast.Dict: displays.mapping,
    ast.ListComp: displays.comprehension,
    ast.SetComp: displays.comprehension,
    ast.GeneratorExp: displays.comprehension,
    ast.DictComp: displays.mapping_comprehension,
    ast.JoinedStr: displays.text,
    ast.NamedExpr: Evaluator._named,
    ast.BinOp: folding.binary,
    ast.BoolOp: folding.boolean,
    ast.UnaryOp: folding.unary,
    ast.Compare: folding.compare,
    ast.IfExp: Evaluator._conditional,
}


def _is_method(value: Derived) -> bool:
    """Whether a value is `object.name`, and not what a call or an index gave."""
    return value.via.startswith(".") and not value.via.endswith("()")
