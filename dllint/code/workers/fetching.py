"""What makes samples and batches, wherever it runs: in workers, or in main where a loader has none."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.code.language import classes
from dllint.code.language.scopes import Scope, called_name
from dllint.code.language.values import Frame, Instance
from dllint.code.loaders.loader import Loader
from dllint.code.workers.datasets import Dataset
from dllint.code.workers.entries import entries_of_values
from dllint.code.workers.reach import Step, WorkerCode

if TYPE_CHECKING:
    from dllint.code.program import Program

_FETCHING = ("__getitem__", "__getitems__")


class Fetch:
    """The code by which a map-style dataset makes one sample, or a loader's collate_fn one batch."""

    def __init__(self, program: Program, subject: Dataset | Loader) -> None:
        self.program = program
        self.subject = subject
        self.path = subject.path

    @cached_property
    def code(self) -> WorkerCode:
        """The functions that are reached from it."""
        return WorkerCode(self.program, self._entries())

    @cached_property
    def scopes(self) -> frozenset[Scope]:
        """The scopes of these functions."""
        return frozenset(step.scope for step in self.code.steps)

    def _entries(self) -> list[Step]:
        if isinstance(self.subject, Loader):
            collate = self.subject.arguments["collate_fn"]
            return entries_of_values(self.program, collate.values(self.program.evaluator), "collate_fn")
        cls = self.subject.cls
        methods = [classes.method(self.program.evaluator, cls, name) for name in _FETCHING]
        label = f"dataset {cls.name}"
        return [Step(method, Frame(method, Instance(cls)), label) for method in methods if method is not None]


def find(program: Program) -> Iterator[Fetch]:
    """All map-style datasets, and all collate functions that a loader is given."""
    for dataset in program.facts.datasets:
        if not dataset.is_iterable:
            yield Fetch(program, dataset)
    for loader in program.facts.loaders:
        if "collate_fn" in loader.arguments:
            yield Fetch(program, loader)


def next_calls(fetch: Fetch) -> Iterator[tuple[Step, ast.Call, ast.expr]]:
    """The calls `next(x)` and `x.__next__()` in this code that have no default, each with the iterator; nothing is
    looked into where no file holds one."""
    if not fetch.program.modules_with("next") and not fetch.program.modules_with("__next__("):
        return
    for step in fetch.code.steps:
        if not any(step.scope.module.lines_with(name) for name in ("next", "__next__")):
            continue
        for call in step.scope.index().calls:
            function = call.func
            is_alone = len(call.args) == 1 and not call.keywords
            if isinstance(function, ast.Name) and is_alone and called_name(call, step.scope, ("next",)) == "next":
                yield step, call, call.args[0]
            elif isinstance(function, ast.Attribute) and function.attr == "__next__" and not call.args:
                yield step, call, function.value
