"""What a dataset and a collate_fn hand on: the samples and batches, as expressions in the function that gives them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language import classes
from dllint.code.language.callables import bound_partial, callable_method, innermost
from dllint.code.language.scopes import FunctionScope, last_name
from dllint.code.language.values import Collection, Frame, Function, Instance, Partial, Value, Values
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

_GIVES_A_SAMPLE = ("__getitem__", "__next__")
_REGROUPS = frozenset({"list", "tuple", "zip"})
_DEEPEST = 3
_MOST_PARTS = 40


@dataclass(frozen=True, slots=True)
class Output:
    """One expression that gives a sample, or a batch."""

    node: ast.expr
    frame: Frame

    @property
    def scope(self) -> FunctionScope:
        """The function that gives it."""
        assert isinstance(self.frame.scope, FunctionScope)
        return self.frame.scope

    def values(self, program: Program) -> Values:
        """What it can be."""
        return program.evaluator.values(self.node, self.frame)

    def parts(self, program: Program) -> Iterator[Value]:
        """What it can be, and what stands in the tuples, lists and dicts that it is."""
        for value in self.values(program):
            yield from spread(program, value)


def samples(program: Program, value: Instance) -> Iterator[Output]:
    """The samples of a dataset object."""
    ev = program.evaluator
    hooks = [name for base in classes.external_bases(ev, value.cls) for name in apis.HOOKS.get(base, ())]
    for name in dict.fromkeys((*_GIVES_A_SAMPLE, *(hook for hook in hooks if hook == "get"))):
        method = classes.method(ev, value.cls, name)
        if method is not None:
            yield from of_function(method, Frame(method, value))
    method = classes.method(ev, value.cls, "__iter__")
    if method is not None:
        yield from _elements(program, method, Frame(method, value), 0)


def batches(program: Program, collate: Value) -> Iterator[Output]:
    """The batches that a collate function of the project gives."""
    target = innermost(collate)
    if isinstance(collate, Partial):
        for function, frame in bound_partial(collate):
            yield from of_function(function.scope, frame)
    elif isinstance(target, Function):
        yield from of_function(target.scope, Frame(target.scope, target.receiver, outer=target.outer))
    elif isinstance(target, Instance):
        method = callable_method(program, target)
        if method is not None:
            yield from of_function(method, Frame(method, target))


def passes_on(collate: FunctionScope) -> bool:
    """Whether a collate function gives the samples as it got them: `batch`, `batch[0]`, `list(zip(*batch))`."""
    collate.index()
    node = collate.node
    positional = [*node.args.posonlyargs, *node.args.args]
    if not positional or collate.is_generator:
        return False
    name = positional[-1].arg
    if any(binding.kind != "parameter" for binding in collate.bindings.get(name, ())):
        return False
    given = [node.body] if isinstance(node, ast.Lambda) else [r.value for r in collate.returns]
    return bool(given) and all(value is not None and _is_batch(value, name) for value in given)


def _is_batch(node: ast.expr, name: str) -> bool:
    """Whether an expression is the batch that came in, a sample of it, or its samples in another order."""
    if isinstance(node, ast.Name):
        return node.id == name
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Name) and node.value.id == name
    if isinstance(node, ast.Starred):
        return _is_batch(node.value, name)
    if not isinstance(node, ast.Call) or len(node.args) != 1 or last_name(node.func) not in _REGROUPS:
        return False
    return _is_batch(node.args[0], name)


def of_function(scope: FunctionScope, frame: Frame) -> Iterator[Output]:
    """What a function returns; nothing of a generator, whose elements are asked for one by one."""
    scope.index()
    if isinstance(scope.node, ast.Lambda):
        yield Output(scope.node.body, frame)
    elif not scope.is_generator:
        yield from (Output(r.value, frame) for r in scope.returns if r.value is not None)


def _elements(program: Program, scope: FunctionScope, frame: Frame, depth: int) -> Iterator[Output]:
    """What an `__iter__`, or a generator that it passes on, gives one by one."""
    scope.index()
    for node in scope.yields:
        if isinstance(node, ast.Yield) and node.value is not None:
            yield Output(node.value, frame)
        elif isinstance(node, ast.YieldFrom):
            yield from _of_generator(program, node.value, frame, depth)
    if not scope.yields:
        for returned in scope.returns:
            if returned.value is not None:
                yield from _of_generator(program, returned.value, frame, depth)


def _of_generator(program: Program, node: ast.expr, frame: Frame, depth: int) -> Iterator[Output]:
    if isinstance(node, ast.GeneratorExp):
        yield Output(node.elt, frame)
    elif isinstance(node, ast.Call) and depth < _DEEPEST:
        for value in program.evaluator.values(node.func, frame):
            if isinstance(value, Function):
                inner = Frame(value.scope, value.receiver, node, frame, value.outer)
                yield from _elements(program, value.scope, inner, depth + 1)


def spread(program: Program, value: Value, depth: int = 0) -> Iterator[Value]:
    """A value, and what stands in it where it is a tuple, list or dict that the source spells out."""
    yield value
    if not isinstance(value, Collection) or value.kind == "generator" or depth > _DEEPEST:
        return
    groups = [value.each] if value.each is not None else []
    groups += [program.evaluator.values(item, value.frame) for item in value.items[:_MOST_PARTS]]
    for group in groups:
        for inner in group:
            yield from spread(program, inner, depth + 1)
