"""Batches: what a collate_fn leaves apart of the samples that it is given, instead of stacking it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language import classes
from dllint.code.language.callables import callable_method, innermost
from dllint.code.language.scopes import FunctionScope, last_name
from dllint.code.language.values import External, Frame, Function, Instance, Value, Values
from dllint.code.loaders.loader import Loader
from dllint.code.tensors import counting as tensors
from dllint.code.workers import datasets

if TYPE_CHECKING:
    from dllint.code.program import Program

_KEEPS_ALL = frozenset({"list", "tuple", "sorted", "reversed", "filter"})
"""Builtins that pass on the elements of what they are given."""
_DEEPEST = 6


def sample_values(program: Program, loader: Loader) -> Values:
    """What one sample of a loader's dataset can be; empty if that is not known."""
    found: list[Value] = []
    for instance in datasets.read_by(program, loader):
        method = classes.method(program.evaluator, instance.cls, "__getitem__")
        if method is None:
            return ()
        found += program.evaluator.call_method(instance, "__getitem__", method.node, Frame(method, instance))
    return tuple(found)


def kept_apart(program: Program, collate: Value, sample: Values) -> int:
    """How many tensors of each sample a collate function leaves apart in its batch, at the least."""
    target = innermost(collate)
    if isinstance(target, External):
        return tensors.count(program, sample) if target.name in ("builtins.list", "builtins.tuple") else 0
    if isinstance(target, Instance):
        method = callable_method(program, target)
    else:
        method = target.scope if isinstance(target, Function) else None
    if method is None or method.is_generator:
        return 0
    return min((_Collate(program, method, sample).kept(node) for node in _results(method)), default=0)


def _results(scope: FunctionScope) -> Iterator[ast.expr]:
    scope.index()
    if isinstance(scope.node, ast.Lambda):
        yield scope.node.body
    yield from (returned.value for returned in scope.returns if returned.value is not None)


class _Collate:
    """One collate function, and what it does with the samples in its batch."""

    def __init__(self, program: Program, scope: FunctionScope, sample: Values) -> None:
        self.program = program
        self.scope = scope
        self.sample = sample
        names = [p.arg for p in scope.parameters if p.arg != scope.receiver_name]
        self.batch = names[0] if names else ""

    def kept(self, node: ast.expr, depth: int = 0) -> int:
        """How many tensors of each sample an expression leaves apart."""
        if depth > _DEEPEST:
            return 0
        if isinstance(node, ast.Name):
            return self._named(node, depth)
        if isinstance(node, (ast.Tuple, ast.List, ast.Dict)):
            parts = node.values if isinstance(node, ast.Dict) else node.elts
            return sum(self.kept(part, depth + 1) for part in parts)
        if isinstance(node, ast.Call):
            return self._called(node, depth)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)) and len(node.generators) == 1:
            return self._each(node.elt, node.generators[0])
        if isinstance(node, ast.DictComp) and isinstance(node.value, (ast.ListComp, ast.GeneratorExp)):
            return self._each_key(node, node.value)
        return 0

    def _named(self, node: ast.Name, depth: int) -> int:
        if self._is_batch(node):
            return tensors.count(self.program, self.sample)
        bindings = self.scope.index().bindings.get(node.id, ())
        if len(bindings) != 1 or not isinstance(bindings[0].value, ast.expr):
            return 0
        binding = bindings[0]
        if binding.kind == "item" and self._is_zipped(binding.value):
            return tensors.part(self.program, self.sample, binding.index)
        return self.kept(bindings[0].value, depth + 1) if binding.kind == "assign" else 0

    def _is_batch(self, node: ast.AST) -> bool:
        """Whether a name is the batch as it came, or what a filter left of it."""
        if not isinstance(node, ast.Name) or node.id != self.batch:
            return False
        bindings = self.scope.index().bindings.get(node.id, ())
        return all(b.kind == "parameter" or isinstance(b.value, (ast.ListComp, ast.Call)) for b in bindings)

    def _is_zipped(self, node: ast.AST | None) -> bool:
        """`zip(*batch)`, also as `list(zip(*batch))` and `map(list, zip(*batch))`."""
        if not isinstance(node, ast.Call) or not node.args:
            return False
        if last_name(node) in ("list", "tuple", "map"):
            return self._is_zipped(node.args[-1])
        starred = node.args[0]
        return last_name(node) == "zip" and isinstance(starred, ast.Starred) and self._is_batch(starred.value)

    def _called(self, node: ast.Call, depth: int) -> int:
        if self._is_zipped(node):
            return tensors.count(self.program, self.sample)
        if isinstance(node.func, ast.Name) and node.func.id in _KEEPS_ALL and node.args:
            return self.kept(node.args[-1], depth + 1)
        return 0

    def _each(self, element: ast.expr, loop: ast.comprehension) -> int:
        """What a comprehension over the batch takes of each sample."""
        if not self._is_batch(loop.iter):
            return 0
        if isinstance(loop.target, ast.Name):
            return self._of_sample(element, loop.target.id)
        if isinstance(loop.target, ast.Tuple):
            names = [getattr(target, "id", "") for target in loop.target.elts]
            if isinstance(element, ast.Name) and element.id in names:
                return tensors.part(self.program, self.sample, names.index(element.id))
        return 0

    def _of_sample(self, element: ast.expr, name: str) -> int:
        if isinstance(element, ast.Name) and element.id == name:
            return tensors.count(self.program, self.sample)
        if isinstance(element, ast.Subscript) and isinstance(element.value, ast.Name) and element.value.id == name:
            key = element.slice.value if isinstance(element.slice, ast.Constant) else None
            return tensors.part(self.program, self.sample, key) if isinstance(key, (int, str)) else 0
        return tensors.count(self.program, self.program.evaluator.values(element, Frame(self.scope)))

    def _each_key(self, node: ast.DictComp, inner: ast.ListComp | ast.GeneratorExp) -> int:
        """`{key: [sample[key] for sample in batch] for key in batch[0]}` keeps all of each sample."""
        loop, element = inner.generators[0], inner.elt
        keyed = isinstance(element, ast.Subscript) and ast.dump(element.slice) == ast.dump(node.key)
        return tensors.count(self.program, self.sample) if keyed and self._is_batch(loop.iter) else 0
