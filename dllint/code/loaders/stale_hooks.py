"""What Lightning's hooks change, in each epoch, of the objects that a loader's persistent workers hold copies of."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language import classes
from dllint.code.language.values import Frame, Instance
from dllint.code.loaders import lightning, mutations
from dllint.code.loaders.lightning import Hook
from dllint.code.loaders.loader import Loader
from dllint.code.loaders.mutations import Mutation, Write
from dllint.code.workers import datasets
from dllint.code.workers.reach import Step, WorkerCode

if TYPE_CHECKING:
    from dllint.code.program import Program

_DEEPEST = 2
"""Calls from a hook that are followed."""


def find(program: Program, loader: Loader) -> Iterator[Mutation]:
    """The changes by hooks of what the workers of a loader that Lightning keeps have copies of."""
    given_by = program.facts.lightning.gives(loader)
    if not given_by or program.modules_with("reload_dataloaders_every_n_epochs"):
        return
    entries = [entry for entry in program.facts.worker_entries if loader in entry.loaders]
    copied, kept = list(mutations.held(program, loader)), mutations.kept_by_workers(entries)
    for hook in program.facts.lightning.between_epochs if copied else ():
        for found, holder in _changes(program, loader, hook, given_by, copied):
            read = next(mutations.reads(entries, holder.cls, found.write.name), None)
            if read is not None and found.write.name not in kept:
                way = mutations.hops(found.step)
                yield Mutation(found.write, found.scope.module, found.scope.qualname, way, holder.cls, read)


def _changes(
    program: Program, loader: Loader, hook: Hook, given_by: str, copied: list[Instance]
) -> Iterator[tuple[Write, Instance]]:
    """The writes that a hook leads to, each with the object that it changes."""
    start = Step(hook.scope, hook.frame, "")
    roots = list(datasets.read_by(program, loader))
    for write in hook.scope.index().writes:
        of_loader = _is_dataset(write.target.value, hook, given_by) and not write.element
        yield from ((Write(write, hook.scope, hook.frame, None), root) for root in roots if of_loader)
    entries = [start, *_called_on_dataset(program, start, hook, roots, given_by)]
    for step in WorkerCode(program, entries, _DEEPEST).steps:
        for write in step.scope.index().writes if step.scope.name != "__init__" else ():
            found = Write(write, step.scope, step.frame, step if step is not start else None)
            holder = mutations.held_object(program, found, copied)
            if holder is not None:
                yield found, holder


def _called_on_dataset(
    program: Program, start: Step, hook: Hook, roots: list[Instance], given_by: str
) -> Iterator[Step]:
    """The methods that `trainer.train_dataloader.dataset.set_epoch(...)` runs."""
    for call in hook.scope.index().calls:
        if not isinstance(call.func, ast.Attribute) or not _is_dataset(call.func.value, hook, given_by):
            continue
        for root in roots:
            method = classes.method(program.evaluator, root.cls, call.func.attr)
            if method is not None:
                yield Step(method, Frame(method, root, call, hook.frame), "", start, call)


def _is_dataset(node: ast.expr, hook: Hook, given_by: str) -> bool:
    is_dataset = isinstance(node, ast.Attribute) and node.attr in ("dataset", "datasets")
    return is_dataset and isinstance(node, ast.Attribute) and lightning.is_loader_of(node.value, hook.scope, given_by)
