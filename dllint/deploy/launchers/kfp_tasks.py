"""Tasks of Kubeflow Pipelines: calls of components in a pipeline, with all that is done to their results."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language.arguments import Argument, Arguments, collect
from dllint.code.language.links import parent
from dllint.code.language.scopes import last_name
from dllint.code.language.values import Frame, Product
from dllint.deploy.launchers.code_values import library_name

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan


class Task:
    """One call of a component in a pipeline, with all that is done to its result."""

    def __init__(self, call: ast.Call, frame: Frame, plan: Plan, made: Product | None = None) -> None:
        self.call = call
        self.frame = frame
        self.scope = frame.scope
        self.plan = plan
        self.made = Task(made.node, made.frame, plan) if made is not None else None
        """The task as a function of the project makes it, which the pipeline calls."""
        self.calls: list[ast.Call] = []
        """Calls of the task's own methods."""
        self.name = self._follow(call)
        """The variable that holds it; empty where there is none."""

    def _follow(self, node: ast.AST) -> str:
        around = parent(node)
        while isinstance(around, ast.Attribute) and isinstance(call := parent(around), ast.Call):
            self.calls.append(call)
            around = parent(call)
        target = around.targets[0] if isinstance(around, ast.Assign) else None
        if not isinstance(target, ast.Name):
            return ""
        self.calls += [call for call in self.scope.calls if self._is_own_method(call.func, target.id)]
        return target.id

    @staticmethod
    def _is_own_method(function: ast.expr, name: str) -> bool:
        while isinstance(function, ast.Attribute):
            inner = function.value
            function = inner.func if isinstance(inner, ast.Call) else inner
        return isinstance(function, ast.Name) and function.id == name

    def given_to(self) -> Iterator[tuple[ast.Call, str]]:
        """The calls that are passed the task itself, with the library's name of what is called."""
        for call in self.scope.calls:
            passed = [*call.args, *(keyword.value for keyword in call.keywords)]
            if any(node is self.call or (isinstance(node, ast.Name) and node.id == self.name) for node in passed):
                yield call, library_name(call.func, self.scope, self.plan)

    def argument(self, method: str) -> Argument | None:
        """The first argument of a method that is called on the task."""
        for call in self.calls:
            if last_name(call.func) == method:
                found = self.arguments(call)
                return next(iter([*found.positional, *found.named.values()]), None)
        return self.made.argument(method) if self.made is not None else None

    def has_call(self, *methods: str) -> bool:
        """Whether one of some methods is called on the task."""
        own = any(last_name(call.func) in methods for call in self.calls)
        return own or (self.made is not None and self.made.has_call(*methods))

    def arguments(self, call: ast.Call) -> Arguments:
        """The arguments of a call in the pipeline."""
        return self.arguments_in(call, self.frame)

    def arguments_in(self, call: ast.Call, frame: Frame) -> Arguments:
        """The arguments of a call that is made in some other frame."""
        return collect(self.plan.program.evaluator, call, frame)
