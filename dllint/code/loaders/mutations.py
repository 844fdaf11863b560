"""What main changes, from epoch to epoch, of the objects that a loader's workers hold copies of."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dllint.code.facts import WorkerEntry
from dllint.code.language import classes, conditions, loops
from dllint.code.language.bindings import AttributeWrite
from dllint.code.language.links import block_of
from dllint.code.language.modules import Module
from dllint.code.language.scopes import ClassScope, Scope
from dllint.code.language.values import Collection, Const, Frame, Function, Instance, Product, Value
from dllint.code.loaders.iterations import Repetition
from dllint.code.loaders.loader import Loader
from dllint.code.workers import datasets, state
from dllint.code.workers.reach import Step, WorkerCode
from dllint.code.workers.uses import runs_in_worker_only
from dllint.finding import Related
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

_DEEPEST = 2
"""Calls from the loop's body that are followed."""
_IN_PLACE = ("numpy.",)
"""Arrays of these libraries are copies in the workers: changing an element in main changes main's alone."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """A statement by which main changes an attribute that workers read."""

    write: AttributeWrite
    module: Module
    symbol: str
    hops: tuple[Related, ...]
    """The calls from the loop to the statement."""
    owner: ClassScope
    read: Related
    """Where a worker reads it."""


def between_epochs(program: Program, loader: Loader, repetition: Repetition) -> Iterator[Mutation]:
    """What the loop that repeats a loader changes of the objects that the loader's workers hold."""
    entries = [entry for entry in program.facts.worker_entries if loader in entry.loaders]
    copied = list(held(program, loader))
    if not copied:
        return
    kept = kept_by_workers(entries)
    writes = (found for found in _writes(program, repetition) if found.write.name not in kept)
    found = [found for found in writes if held_object(program, found, copied) is not None]
    settled = {one.write.name for one in found if _is_settled(program, one, repetition)}
    for one in found:
        holder = held_object(program, one, copied)
        if holder is not None and one.write.name not in settled:
            for read in reads(entries, holder.cls, one.write.name):
                yield Mutation(one.write, one.scope.module, one.scope.qualname, hops(one.step), holder.cls, read)
                break


def kept_by_workers(entries: Iterable[WorkerEntry]) -> set[str]:
    """The attributes that worker code writes itself: a cache of what it has read, of which each process has its own."""
    return {write.name for entry in entries for step in entry.code.steps for write in step.scope.index().writes}


@dataclass(frozen=True, slots=True)
class Write:
    """An attribute write that a loop leads to; `step` is the function around it, if that is not the loop's own."""

    write: AttributeWrite
    scope: Scope
    frame: Frame
    step: Step | None


def held(program: Program, loader: Loader) -> Iterator[Instance]:
    """The objects of project classes that the workers of a loader get copies of."""
    roots = list(datasets.read_by(program, loader))
    for _, argument in loader.worker_callables():
        roots += [value for value in argument.values(program.evaluator) if isinstance(value, Instance)]
    for root in roots:
        yield root
        yield from (item.value for item in state.items(program, root) if isinstance(item.value, Instance))


def _writes(program: Program, repetition: Repetition) -> Iterator[Write]:
    """The attribute writes in a loop's body, and in the functions that it calls."""
    loop, frame = repetition.loop, repetition.frame
    for write in frame.scope.index().writes:
        if loops.holds(loop, write.node):
            yield Write(write, frame.scope, frame, None)
    for step in called(program, loop, frame).steps:
        if step.scope.name != "__init__":
            yield from (Write(write, step.scope, step.frame, step) for write in step.scope.index().writes)


def called(program: Program, loop: loops.Loop, frame: Frame) -> WorkerCode:
    """The functions that a loop's body calls, and those that these call."""
    entries: list[Step] = []
    for call in frame.scope.index().calls:
        if loops.holds(loop, call):
            for value in program.evaluator.values(call.func, frame):
                if isinstance(value, Function):
                    inner = Frame(value.scope, value.receiver, call, frame, value.outer)
                    entries.append(Step(value.scope, inner, "", None, call))
    return WorkerCode(program, entries, _DEEPEST)


def hops(step: Step | None) -> tuple[Related, ...]:
    """The calls that lead from the loop's body to a function."""
    found: list[Related] = []
    while step is not None:
        home = step.parent.scope if step.parent is not None else step.frame.caller.scope if step.frame.caller else None
        if home is not None and step.call is not None:
            found.append(Related(f"{step.scope.qualname} called here", home.module.location(step.call)))
        step = step.parent
    return tuple(reversed(found))


def held_object(program: Program, found: Write, copied: list[Instance]) -> Instance | None:
    """The object that a write changes, if it is one that the workers hold a copy of."""
    write = found.write
    if write.element and not _is_copied_container(program, write, found.frame):
        return None
    for value in program.evaluator.values(write.target.value, found.frame):
        if isinstance(value, Instance) and any(_is_same(value, one) for one in copied):
            # A property with a setter may keep what it is given in shared memory.
            return value if classes.method(program.evaluator, value.cls, write.name) is None else None
    return None


def _is_same(value: Instance, held: Instance) -> bool:
    return value.cls is held.cls and value.node is not None and value.node is held.node


def _is_copied_container(program: Program, write: AttributeWrite, frame: Frame) -> bool:
    """Whether `x.attribute[i] = ...` changes a list, a dict or an array, which main and workers each have their own."""
    found = program.evaluator.values(write.target, frame)
    return bool(found) and all(_is_copied(value) for value in found)


def _is_copied(value: Value) -> bool:
    if isinstance(value, Product):
        return (
            value.name.startswith(_IN_PLACE) and "memmap" not in value.name and not value.name.endswith(".frombuffer")
        )
    return isinstance(value, Collection) and value.kind in ("list", "dict", "set")


def _is_settled(program: Program, found: Write, repetition: Repetition) -> bool:
    """Whether a write gives the attribute the same constant in each turn, before the workers could start."""
    binding = found.write.binding
    if binding.kind != "assign" or binding.value is None or found.write.element:
        return False
    values = program.evaluator.values(binding.value, found.frame)
    if len(values) != 1 or not isinstance(values[0], Const):
        return False
    at = found.write.node
    if found.step is not None:
        if found.step.parent is not None or found.step.call is None or conditions.leading_to(at):
            return False
        at = found.step.call
    return block_of(at).owner is repetition.loop and _line(at) < _line(repetition.node)


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def reads(entries: Iterable[WorkerEntry], owner: ClassScope, name: str) -> Iterator[Related]:
    """Where workers read an attribute of an object of this class."""
    for entry in entries:
        for step, node in entry.code.reads(owner, name):
            if runs_in_worker_only(step):
                yield Related("a worker reads its own copy here", step.scope.module.location(node))


def may_change(program: Program, loader: Loader, repetition: Repetition) -> bool:
    """Whether the loop may change what the loader's workers hold: it calls a method of the dataset, or writes to it."""
    keys = {value.key for value in loader.dataset_values()}
    scopes = [(repetition.frame.scope, repetition.frame)]
    scopes += [(step.scope, step.frame) for step in called(program, repetition.loop, repetition.frame).steps]
    for position, (scope, frame) in enumerate(scopes):
        touched = [call.func.value for call in scope.index().calls if isinstance(call.func, ast.Attribute)]
        touched += [write.target.value for write in scope.writes]
        for node in touched:
            inside = position > 0 or loops.holds(repetition.loop, node)
            if inside and any(v.key in keys for v in program.evaluator.values(node, frame)):
                return True
    return False
