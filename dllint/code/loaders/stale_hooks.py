"""What Lightning's hooks change, in each epoch, of the objects that a loader's persistent workers hold copies of."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language import classes
from dllint.code.language.scopes import dotted
from dllint.code.language.values import Frame, Instance
from dllint.code.loaders import lightning, mutations
from dllint.code.loaders.lightning import Hook
from dllint.code.loaders.loader import Loader
from dllint.code.loaders.mutations import Mutation, Write
from dllint.code.workers import datasets
from dllint.code.workers.reach import Step, WorkerCode
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

_DEEPEST = 2
"""Calls from a hook that are followed."""


@dataclass(frozen=True, slots=True)
class _ByTrainer:
    """The objects that workers have copies of, by the ways on which hooks come to them from their trainer."""

    given_by: str
    roots: list[Instance]
    """The data sets of the loader."""
    of_module: dict[str, list[Instance]]
    """What the class that gives the loader holds, by attribute."""

    def named(self, node: ast.expr, hook: Hook) -> list[Instance]:
        """What an expression in a hook stands for: `trainer.train_dataloader.dataset`, `trainer.datamodule.rows`."""
        if not isinstance(node, ast.Attribute):
            return []
        if node.attr == "dataset" and lightning.is_loader_of(node.value, hook.scope, self.given_by):
            return self.roots
        return self.of_module.get(node.attr, []) if dotted(node.value).endswith("trainer.datamodule") else []


def find(program: Program, loader: Loader) -> Iterator[Mutation]:
    """The changes by hooks of what the workers of a loader that Lightning keeps have copies of."""
    given_by = program.facts.lightning.gives(loader)
    copied = list(mutations.held(program, loader)) if given_by else []
    if not copied or program.modules_with("reload_dataloaders_every_n_epochs"):
        return
    entries = [entry for entry in program.facts.worker_entries if loader in entry.loaders]
    kept = mutations.kept_by_workers(entries)
    roots = list(datasets.read_by(program, loader))
    names = _ByTrainer(given_by, roots, _of_data_module(program, loader, copied))
    for hook in program.facts.lightning.between_epochs:
        for found, holder in _changes(program, hook, names, copied):
            read = next(mutations.reads(entries, holder.cls, found.write.name), None)
            if read is not None and found.write.name not in kept:
                way = mutations.hops(found.step)
                yield Mutation(found.write, found.scope.module, found.scope.qualname, way, holder.cls, read)


def _changes(
    program: Program, hook: Hook, names: _ByTrainer, copied: list[Instance]
) -> Iterator[tuple[Write, Instance]]:
    """The writes that a hook leads to, each with the object that it changes."""
    start = Step(hook.scope, hook.frame, "")
    for write in hook.scope.index().writes:
        changed = [] if write.element else names.named(write.target.value, hook)
        yield from ((Write(write, hook.scope, hook.frame, None), one) for one in changed)
    entries = [start]
    for call in hook.scope.calls:
        if isinstance(call.func, ast.Attribute):
            entries += _entered(program, start, call, call.func.attr, names.named(call.func.value, hook))
    for step in WorkerCode(program, entries, _DEEPEST).steps:
        for write in step.scope.index().writes if step.scope.name != "__init__" else ():
            found = Write(write, step.scope, step.frame, step if step is not start else None)
            holder = mutations.held_object(program, found, copied)
            if holder is not None:
                yield found, holder


def _entered(program: Program, start: Step, call: ast.Call, name: str, objects: list[Instance]) -> Iterator[Step]:
    """The methods that a call on these objects runs."""
    for one in objects:
        method = classes.method(program.evaluator, one.cls, name)
        if method is not None:
            yield Step(method, Frame(method, one, call, start.frame), "", start, call)


def _of_data_module(program: Program, loader: Loader, copied: list[Instance]) -> dict[str, list[Instance]]:
    """The attributes by which the classes that give a loader hold what its workers have copies of."""
    nodes = {one.node for one in copied if one.node is not None}
    found: dict[str, list[Instance]] = {}
    for cls in program.facts.lightning.owners(loader):
        for scope in cls.methods.values():
            for write in scope.index().writes:
                values = program.evaluator.written(write, Frame(scope, Instance(cls)))
                held = [value for value in values if isinstance(value, Instance) and value.node in nodes]
                if held and not write.element:
                    found.setdefault(write.name, []).extend(held)
    return found
