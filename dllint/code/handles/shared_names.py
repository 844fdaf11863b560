"""Handles under names that forked workers share: of modules and of classes, set when they are imported or by main."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from operator import itemgetter
from typing import TYPE_CHECKING

from dllint.code.handles import guards, lazy_handles, opened
from dllint.code.handles.lazy_handles import Lazy, Use
from dllint.code.handles.opened import Handle
from dllint.code.language import classes, conditions, fields
from dllint.code.language.bindings import Binding
from dllint.code.language.containers import is_made_empty, is_none
from dllint.code.language.links import block_of
from dllint.code.language.members import writes_by_name
from dllint.code.language.modules import Module
from dllint.code.language.outlines import occurrences
from dllint.code.language.scopes import ClassScope, FunctionScope, Scope, dotted, last_name
from dllint.code.language.values import ClassRef, Frame, Instance, ModuleRef
from dllint.code.workers.making import end_of
from dllint.code.workers.reach import is_main_only
from dllint.patterns import pattern
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.facts import WorkerEntry
    from dllint.code.program import Program
    from dllint.code.workers.reach import Step

_ATTRIBUTE = pattern(rb"[ \t]*\.[ \t]*(\w+)")
_ASSIGNS = pattern(rb"[ \t]*(?::[^=\n]{0,200})?=(?!=)")


@dataclass(frozen=True, slots=True)
class Shared:
    """A handle that a module or class has under a name."""

    name: str
    handle: Handle
    setter: FunctionScope | None = None
    """The function that opens it; None where the module or the script itself does."""

    @property
    def only_by_fork(self) -> bool:
        """Whether only what main has done hands it to workers: those that import the module anew do not have it."""
        return self.setter is not None or self.handle.is_guarded


def read_in(entry: WorkerEntry) -> Iterator[tuple[Shared, Step, ast.AST]]:
    """The handles that worker code reads by a name of a module, each with the place where it does."""
    for step in entry.code.steps:
        for shared, read in _read_by(entry.program, step.scope):
            if reaches(entry, shared) and not is_main_only(entry.program, read, step.frame):
                yield shared, step, read


def reaches(entry: WorkerEntry, shared: Shared) -> bool:
    """Whether workers have a handle as main opened it: main does so, and no worker puts its own in its place."""
    if shared.only_by_fork and not entry.may_fork:
        return False
    steps = {step.scope: step for step in entry.code.steps}
    if any(scope is not shared.setter and _sets(scope, shared.name) for scope in steps):
        return False
    if shared.setter in steps:
        return first_use(entry, shared) is not None
    return shared.setter is None or bool(entry.program.call_sites(shared.setter))


def first_use(entry: WorkerEntry, shared: Shared) -> Use | None:
    """Where main is the first to use what workers would open otherwise: `if FILE is None: FILE = open(path)`."""
    step = next((step for step in entry.code.steps if step.scope is shared.setter), None)
    if step is None or not guards.is_opened_once(step, shared.handle.opened.node, shared.name):
        return None
    setters = [scope for scope, _ in step.scope.module.set_by_functions.get(shared.name, ())]
    if any(scope is not step.scope for scope in setters) or lazy_handles.is_let_go(entry.program, shared.name):
        return None
    if guards.asks_for_process(entry, step) or guards.is_reset_by_fork(entry, step):
        return None
    return lazy_handles.used_by_main(entry, Lazy(shared.handle, shared.name, step, False))


def _sets(scope: Scope, name: str) -> bool:
    """Whether a function stores something under a global name, or under an attribute of that name."""
    bound = scope.index().bindings.get(name, ())
    if any(write.name == name for write in scope.writes):
        return True
    return any(one.kind == "global" for one in bound) and len(bound) > 1


def _read_by(program: Program, scope: Scope) -> Iterator[tuple[Shared, ast.AST]]:
    for shared in _read_among(scope.reads, _by_name(program, scope.module)):
        own = scope.read_of_global(shared.name)
        if own is not None:
            yield shared, own
    imported = _imported(program, scope.module)
    for alias, shared in imported.items():
        name, _, attribute = alias.partition(".")
        read = scope.read_of_global(alias) if not attribute else _attribute(scope, name, attribute)
        if read is not None:
            yield shared, read


def _attribute(scope: Scope, name: str, attribute: str) -> ast.AST | None:
    return next((n for n in scope.index().attributes if n.attr == attribute and dotted(n.value) == name), None)


def _read_among(names: Collection[str], named: dict[str, list[tuple[int, Shared]]]) -> list[Shared]:
    """What goes by names that are read, in its own order: a file has many of these, and a function reads few names."""
    found = (item for name in _in_both(names, named) for item in named[name])
    return [shared for _, shared in sorted(found, key=itemgetter(0))]


def _in_both(some: Collection[str], others: Collection[str]) -> list[str]:
    fewer, more = (some, others) if len(some) < len(others) else (others, some)
    return [name for name in fewer if name in more]


def _by_name(program: Program, module: Module) -> dict[str, list[tuple[int, Shared]]]:
    memo = program.facts.shared_by_name_memo
    if module not in memo:
        by_name = memo[module] = {}
        for number, shared in enumerate(of_module(program, module)):
            by_name.setdefault(shared.name, []).append((number, shared))
    return memo[module]


def of_module(program: Program, module: Module) -> list[Shared]:
    """The handles under names of one module."""
    memo = program.facts.shared_names_memo
    if module not in memo:
        memo[module] = []  # what a cycle of imports sees
        memo[module] = [
            *(Shared(name, handle) for name, handle in opened.bound_once(program, module.scope)),
            *_set_by_functions(program, module),
            *_set_from_outside(program, module),
            *_put_in(program, module),
        ]
    return memo[module]


def _imported(program: Program, module: Module) -> dict[str, Shared]:
    """The handles of other modules by the names that a module reads them under: `records`, `archive.records`."""
    memo = program.facts.imported_names_memo
    if module not in memo:
        memo[module] = dict(_by_import(program, module))
    return memo[module]


def _by_import(program: Program, module: Module) -> Iterator[tuple[str, Shared]]:
    for name, bindings in module.scope.bindings.items():
        binding = bindings[0]
        if len(bindings) > 1 or binding.kind != "import" or not isinstance(binding.value, ast.alias):
            continue
        target = _imported_module(program, binding, module)
        if target is not None and any(_may_bind(target, attribute) for attribute in _read_of(module, name)):
            yield from ((f"{name}.{shared.name}", shared) for shared in of_module(program, target))
        source, wanted = program.members.source(binding, module), binding.value.name
        if source is not None and source is not module and _may_bind(source, wanted):
            found = of_module(program, source)
            yield from ((name, shared) for shared in found if shared.name == wanted and shared.setter is None)


def _imported_module(program: Program, binding: Binding, module: Module) -> Module | None:
    """The other module of the project that an import binds; what a package only passes on is not gone after."""
    source = program.members.source(binding, module)
    if source is not None and isinstance(binding.value, ast.alias):
        return program.modules.submodule(source, binding.value.name)
    found = program.members.imported(binding, module) if source is None else ()
    return next((v.module for v in found if isinstance(v, ModuleRef) and v.module is not module), None)


def _read_of(module: Module, name: str) -> set[str]:
    """The attributes that a module reads of a name, as far as its bytes tell."""
    places = occurrences(module.data, name.encode())
    return {found[1].decode() for at in places if (found := _ATTRIBUTE.match(module.data, at + len(name)))}


def _may_bind(module: Module, name: str) -> bool:
    """Whether a module assigns to a name, as far as its bytes tell: what does not is not parsed."""
    data = module.data
    for at in occurrences(data, name.encode()):
        before = data[data.rfind(b"\n", 0, at) + 1 : at].strip()
        if (not before or before.endswith(b"=")) and _ASSIGNS.match(data, at + len(name)):
            return True
    return False


def _set_by_functions(program: Program, module: Module) -> Iterator[Shared]:
    """`global records`, `records = open(path)`."""
    for name, stored in module.set_by_functions.items():
        for scope, binding in stored:
            yield from _opened(program, name, binding, scope)


def _set_from_outside(program: Program, module: Module) -> Iterator[Shared]:
    """`archive.records = open(path)`, where the module itself says `records = None`."""
    for name in _names(module.scope, is_none):
        for write, scope in writes_by_name(program, name):
            holders = program.evaluator.values(write.target.value, Frame(scope))
            if any(isinstance(v, ModuleRef) and v.module is module for v in holders):
                yield from _opened(program, name, write.binding, scope)


def _put_in(program: Program, module: Module) -> Iterator[Shared]:
    """`RECORDS = {}`, and `RECORDS[path] = open(path)` in a function."""
    for name in _names(module.scope, is_made_empty):
        for scope in module.scopes_with(name):
            if name not in scope.index().bindings or scope is module.scope:
                for binding in scope.filled.get(name, ()):
                    yield from _opened(program, name, binding, scope)


def _opened(program: Program, name: str, binding: Binding, scope: Scope) -> Iterator[Shared]:
    if binding.kind != "assign" or not isinstance(binding.value, ast.Call):
        return
    handle = opened.opened_at(program, binding.value, Frame(scope))
    if handle is None or _is_closed_by(program, scope, name) or _is_over(program, scope, name, binding):
        return
    yield Shared(name, handle, scope if isinstance(scope, FunctionScope) else None)


def _is_closed_by(program: Program, scope: Scope, name: str) -> bool:
    """Whether the function that opens a handle closes it as well, and builds no loader meanwhile."""
    closed = (close.func.value for close in scope.closes if isinstance(close.func, ast.Attribute))
    is_closed = any(dotted(node).rpartition(".")[2] == name for node in closed)
    return is_closed and scope not in program.facts.building_scopes


def _is_over(program: Program, scope: Scope, name: str, opening: Binding) -> bool:
    """Whether a handle is closed, or something else is stored in its place, before the function builds a loader."""
    built = [loader.call for loader in program.facts.loaders if loader.frame.scope is scope]
    limit = min(map(end_of, built), default=(1 << 30, 0))
    closed = [c for c in scope.closes if isinstance(c.func, ast.Attribute) and last_name(c.func.value) == name]
    stored = [*scope.bindings.get(name, ()), *(w.binding for w in scope.writes if w.name == name and not w.element)]
    replaced = [one.node for one in stored if one.kind == "assign" and one.value is not None and not _uses(one, name)]
    ends = [node for node in [*closed, *replaced] if end_of(opening.node) < end_of(node) < limit]
    return any(block_of(node).holds(opening.block) for node in ends)


def _uses(binding: Binding, name: str) -> bool:
    """Whether what is stored is made of what was there: `records = Reader(records)`."""
    assert binding.value is not None
    return any(getattr(node, "id", getattr(node, "attr", "")) == name for node in ast.walk(binding.value))


def _names(scope: Scope, is_wanted: Callable[[ast.AST | None], bool]) -> list[str]:
    """The names that a scope binds once, and to such a value."""
    once = {name: found[0] for name, found in scope.index().bindings.items() if len(found) == 1}
    return [name for name, one in once.items() if one.kind == "assign" and is_wanted(one.value)]


# Names of classes


def read_of_classes(entry: WorkerEntry) -> Iterator[tuple[Shared, Step, ast.AST, ClassScope]]:
    """The handles that worker code reads as attributes of a class, whether by an object of it or not."""
    for module in {step.scope.module: None for step in entry.code.steps}:
        for cls, shared in _of_classes(entry.program, module).among(entry):
            found = entry.code.reads(cls, shared.name)
            read = next((read for read in found if _finds(entry, *read, cls, shared.name)), None)
            if read is not None and reaches(entry, shared):
                yield shared, *read, cls


def _finds(entry: WorkerEntry, step: Step, read: ast.Attribute, cls: ClassScope, name: str) -> bool:
    """Whether a read finds what a class has under a name, and not what one that derives from it, or the object itself,
    has in its place."""
    receiver = step.frame.receiver
    is_own = isinstance(read.value, ast.Name) and read.value.id == step.scope.receiver_name
    holders = [receiver] if is_own else entry.program.evaluator.values(read.value, step.frame)
    known = [holder for holder in holders if isinstance(holder, (Instance, ClassRef))]
    if receiver is not None and all(holder.cls is receiver.cls for holder in known) and _is_only_a_base(entry):
        return False
    return not known or any(not _is_overridden(entry.program, holder, cls, name) for holder in known)


def _is_only_a_base(entry: WorkerEntry) -> bool:
    """Whether loaders read no object of a dataset's own class, but one of a class that derives from it."""
    if entry.dataset is None or entry.loaders:
        return False
    ev, cls = entry.program.evaluator, entry.dataset.cls
    others = (other for other in entry.program.facts.datasets if other.cls is not cls and other.working_loaders)
    return any(cls in classes.mro(ev, other.cls) for other in others)


def _is_overridden(program: Program, holder: Instance | ClassRef, cls: ClassScope, name: str) -> bool:
    order = list(classes.project_mro(program.evaluator, holder.cls))
    if cls not in order:
        return False  # an object of a class that this one derives from: it may be of this one as well
    if any(name in nearer.index().bindings for nearer in order[: order.index(cls)]):
        return True
    return isinstance(holder, Instance) and any(_is_given(program, holder, near, name) for near in order)


def _is_given(program: Program, made: Instance, cls: ClassScope, name: str) -> bool:
    """Whether the `__init__` that makes an object gives it something of its own under a name."""
    init = classes.method(program.evaluator, made.cls, "__init__")
    stored = (write for write, method in cls.writes_of(name) if method is init and not write.element)
    return any(not conditions.leading_to(write.node) for write in stored)


class ClassHandles:
    """The handles that the classes of one module have, by their names and classes."""

    def __init__(self, program: Program, module: Module) -> None:
        self._all = [(cls, shared) for cls in module.classes for shared in _of_class(program, cls)]
        self._by_name: dict[str, dict[ClassScope, list[int]]] = {}
        """Under each class those of its own, and those of the classes that derive from it."""
        for number, (cls, shared) in enumerate(self._all):
            by_class = self._by_name.setdefault(shared.name, {})
            for base in classes.project_mro(program.evaluator, cls):
                by_class.setdefault(base, []).append(number)

    def among(self, entry: WorkerEntry) -> list[tuple[ClassScope, Shared]]:
        """Those that may be what worker code reads of a class, of one that it derives from, or of one that does."""
        found: set[int] = set()
        for name in _in_both(entry.code.attributes_read, self._by_name):
            by_class = self._by_name[name]
            for owner in entry.code.owners(name):
                found.update(by_class.get(owner, ()))
                for base in classes.project_mro(entry.program.evaluator, owner):
                    found.update(number for number in by_class.get(base, ()) if self._all[number][0] is base)
        return [self._all[number] for number in sorted(found)]


def _of_classes(program: Program, module: Module) -> ClassHandles:
    memo = program.facts.class_handles_memo
    if module not in memo:
        memo[module] = ClassHandles(program, module)
    return memo[module]


def _of_class(program: Program, cls: ClassScope) -> Iterator[Shared]:
    is_plain = not fields.is_dataclass(cls) and not conditions.is_guarded(cls.node)
    in_body = opened.bound_once(program, cls) if is_plain else ()
    yield from (Shared(name, handle) for name, handle in in_body if not cls.writes_of(name))
    yield from _stored_on(program, cls)


def _stored_on(program: Program, cls: ClassScope) -> Iterator[Shared]:
    """`Records.file = open(path)` in main, or `cls.file = ...` in a class method, where the body says `file = None`."""
    for name in _names(cls, is_none):
        for write, method in cls.writes_of(name):
            if "classmethod" in method.decorators:
                yield from _opened(program, name, write.binding, method)
        for write, scope in writes_by_name(program, name):
            is_named = isinstance(write.target.value, ast.Name)
            holders = program.evaluator.values(write.target.value, Frame(scope)) if is_named else ()
            if any(isinstance(v, ClassRef) and v.cls is cls for v in holders):
                yield from _opened(program, name, write.binding, scope)
