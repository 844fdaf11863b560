"""Locks, queues and shared values of multiprocessing that objects carry into workers, and the context of each."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dllint.code.apis.contexts import SYNCHRONIZED, last_of
from dllint.code.facts import WorkerEntry
from dllint.code.language.values import Const, Derived, Product, Value
from dllint.code.loaders.loader import Loader
from dllint.code.processes import start_method
from dllint.code.workers import state
from dllint.code.workers.state import Item
from dllint.finding import Location
from dllint.records import dataclass


@dataclass(frozen=True, slots=True)
class Mismatch:
    """An object that is made under fork, and a loader that sends it to workers which are spawned."""

    item: Item
    made: Product | Derived
    loader: Loader
    by_default: bool
    """Whether it comes from the default context, not from one that is named."""

    @property
    def name(self) -> str:
        """How it is called: `Value`."""
        return _kind(self.made)

    @property
    def location(self) -> Location:
        """Where it is made."""
        return self.made.frame.scope.module.location(self.made.node)


def mismatches(entry: WorkerEntry) -> Iterator[Mismatch]:
    """What an entry carries that its loaders cannot send."""
    spawning = [loader for loader in entry.loaders if _only_spawns(entry, loader)]
    if not spawning:
        return
    for item in entry.items:
        made = item.value
        if not isinstance(made, (Product, Derived)) or not _kind(made) or _has_no_lock(made):
            continue
        context = _context(entry, made)
        by_default = context == "default" and "fork" in start_method.of_scope(entry.program, made.frame.scope)
        if (by_default or context == "fork") and not state.is_dropped(entry.program, item):
            yield Mismatch(item, made, spawning[0], by_default)


def _only_spawns(entry: WorkerEntry, loader: Loader) -> bool:
    """Whether a loader's workers are certainly spawned, by what the code says."""
    methods = start_method.of_loader(entry.program, loader)
    return bool(methods) and methods <= start_method.PICKLING and not loader.has_no_workers


def _kind(value: Value) -> str:
    """`Value`, `Lock` ... of a synchronized object; an empty string for anything else."""
    if isinstance(value, Product):
        last = last_of(value.name)
        return last if last in SYNCHRONIZED else ""
    if isinstance(value, Derived) and value.via.endswith("()") and isinstance(value.base, Product):
        last = value.via[1:-2]
        return last if last in SYNCHRONIZED and last_of(value.base.name) == "get_context" else ""
    return ""


def _context(entry: WorkerEntry, made: Product | Derived) -> str:
    """The context that makes it: `default`, or the start method of one that is named; empty if that is not known."""
    if isinstance(made, Product) or not isinstance(made.base, Product):
        return "default"
    base = made.base
    arguments = [*base.node.args, *(k.value for k in base.node.keywords)]
    if not arguments:
        return "default"
    found = entry.program.evaluator.values(arguments[0], base.frame)
    names = [value.value for value in found if isinstance(value, Const)]
    return str(names[0] or "default") if len(names) == len(found) == 1 else ""


def _has_no_lock(made: Product | Derived) -> bool:
    """`Value("i", 0, lock=False)`."""
    node = made.node
    keywords = node.keywords if isinstance(node, ast.Call) else []
    return any(k.arg == "lock" and isinstance(k.value, ast.Constant) and k.value.value is False for k in keywords)
