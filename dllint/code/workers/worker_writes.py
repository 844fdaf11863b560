"""What worker code writes into its own copy of an object or of a module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.facts import WorkerEntry
from dllint.code.language import classes, conditions
from dllint.code.language.scopes import ClassScope, Scope
from dllint.code.language.values import ClassRef, Collection, Derived, Frame, Instance, Product, Unknown, Value, Values
from dllint.code.workers import making
from dllint.code.workers.reach import Step, is_main_only
from dllint.finding import Location
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

Carried = set[tuple[object, ...]]
"""The keys of objects."""

_MAKING = frozenset({"__init__", "__new__", "__setstate__", "__getstate__", "__reduce__"})
_SHARED = ("multiprocessing.", "torch.multiprocessing.", "numpy.memmap", "numpy.frombuffer", "numpy.ndarray", "mmap.")
_SHARED_STEPS = frozenset(
    (".share_memory_()", ".Value()", ".Array()", ".list()", ".dict()", ".Queue()", ".Namespace()", ".Manager()")
)


@dataclass(frozen=True, slots=True)
class Write:
    """A write in worker code: to an attribute of an object of class `owner`, or to a global of a module."""

    step: Step
    node: ast.AST
    name: str
    owner: ClassScope | None
    adds: bool
    """Whether it adds to what is there: `+=`, `append`, `[key] =`."""

    @property
    def location(self) -> Location:
        """Where it stands."""
        return self.step.scope.module.location(self.node)

    @property
    def text(self) -> str:
        """How the target is called."""
        return f"{self.owner.name}.{self.name}" if self.owner is not None else self.name


def writes(entry: WorkerEntry, carried: Carried) -> Iterator[Write]:
    """What the worker code of an entry writes to the objects that it carries along, and to globals."""
    for step in entry.code.steps:
        # Main calls __len__ as well, and __init__ writes to an object that is only being made.
        if step.root.scope.name != "__len__" and step.scope.name not in _MAKING:
            yield from _attribute_writes(entry, step, carried)
            yield from _global_writes(entry, step)


def carried_objects(entry: WorkerEntry) -> Carried:
    """The keys of the objects that the workers have a copy of, and of the classes of these."""
    found = [item.value for item in entry.items if isinstance(item.value, Instance)]
    if entry.dataset is not None:
        found += entry.dataset.instances
    for loader in entry.loaders:
        for _, argument in loader.worker_callables():
            found += [v for v in argument.values(entry.program.evaluator) if isinstance(v, Instance)]
    return {value.key for value in found} | {ClassRef(value.cls).key for value in found}


def _attribute_writes(entry: WorkerEntry, step: Step, carried: Carried) -> Iterator[Write]:
    for written in step.scope.index().writes:
        adds = written.element or written.binding.kind == "augmented"
        if not adds and _is_memo(written.node, written.name):
            continue
        if not is_main_only(entry.program, written.node, step.frame):
            for owner in _owners(entry, written.target.value, step, carried):
                yield Write(step, written.node, written.name, owner, adds)
    for call in step.scope.calls:
        updated = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "update" else None
        if isinstance(updated, ast.Attribute):
            for owner in _owners(entry, updated.value, step, carried):
                yield Write(step, call, updated.attr, owner, adds=True)


def _owners(entry: WorkerEntry, holder: ast.expr, step: Step, carried: Carried) -> list[ClassScope]:
    """The class whose object is written to: the method's own, or that of an object which it holds."""
    own = isinstance(holder, ast.Name) and holder.id == step.scope.receiver_name
    if own and isinstance(step.frame.receiver, Instance):
        receiver = step.frame.receiver
        is_dataset = entry.dataset is not None and receiver.cls is entry.dataset.cls
        return [receiver.cls] if is_dataset or receiver.key in carried else []
    of_class = _class_named(entry, holder, step)
    if of_class is not None:
        return [of_class] if ClassRef(of_class).key in carried else []
    if not isinstance(holder, ast.Attribute):
        return []
    found = entry.program.evaluator.values(holder, step.frame)
    return [value.cls for value in found if isinstance(value, Instance) and value.key in carried and len(found) == 1]


def _class_named(entry: WorkerEntry, holder: ast.expr, step: Step) -> ClassScope | None:
    """The class that a method writes to: `Records.count`, `type(self).count`, `cls.count`."""
    receiver = step.frame.receiver
    if not isinstance(holder, ast.Name):
        is_own = isinstance(receiver, Instance) and making.names_class(entry.program, holder, receiver.cls)
        return receiver.cls if is_own and receiver is not None else None
    found = entry.program.evaluator.values(holder, step.frame)
    return found[0].cls if len(found) == 1 and isinstance(found[0], ClassRef) else None


def _is_memo(node: ast.AST, name: str) -> bool:
    """Whether something is stored where nothing was yet: `if self._index is None: self._index = ...`."""
    for test, _ in conditions.leading_to(node):
        for part in ast.walk(test):
            named = isinstance(part, ast.Constant) and part.value == name
            if named or (isinstance(part, (ast.Attribute, ast.Name)) and getattr(part, "attr", "") == name):
                return True
    return False


def _global_writes(entry: WorkerEntry, step: Step) -> Iterator[Write]:
    scope, top = step.scope.index(), step.scope.module.scope
    for name, bindings in scope.bindings.items():
        if bindings[0].kind == "global" and name in top.bindings:
            for binding in bindings[1:]:
                if binding.kind == "augmented":
                    yield Write(step, binding.node, name, None, adds=True)
    for name, filled in scope.filled.items():
        bound = scope.bindings.get(name)
        if (bound is None or bound[0].kind == "global") and _is_container(entry.program, top, name):
            yield Write(step, filled[0].node, name, None, adds=True)


def _is_container(program: Program, top: Scope, name: str) -> bool:
    """Whether a name of the module is a list or dict that the source spells out, or a Counter and its like."""
    if name not in top.bindings:
        return False
    found = program.evaluator.lookup(name, top.node, top, Frame(top))
    return bool(found) and all(_is_plain(value) for value in found)


def _is_plain(value: Value) -> bool:
    if isinstance(value, Collection):
        return True
    return isinstance(value, Product) and value.name.startswith("collections.")


def is_shared(program: Program, write: Write) -> bool:
    """Whether all processes see what is written: shared tensors, values of multiprocessing, memory maps."""
    if write.owner is None:
        return False
    found = _held(program, write)
    if any(_is_shared_value(value) for value in found):
        return True
    # Of what was handed in, only a number that is counted up is known to be this object's own.
    return any(isinstance(value, Unknown) for value in found) and not isinstance(write.node, ast.AugAssign)


def _held(program: Program, write: Write) -> Values:
    assert write.owner is not None
    node = ast.Attribute(value=ast.Name(id="self", ctx=ast.Load()), attr=write.name, ctx=ast.Load())
    return classes.attribute(program.evaluator, Instance(write.owner), write.name, node, write.step.frame)


def _is_shared_value(value: Value) -> bool:
    if isinstance(value, Derived):
        return any(step.via in _SHARED_STEPS for step in value.chain()) or _is_shared_value(value.origin)
    if not isinstance(value, Product):
        return False
    mapped = value.name == "numpy.load" and any(k.arg == "mmap_mode" for k in value.node.keywords)
    return mapped or value.name.startswith(_SHARED)
