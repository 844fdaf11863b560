"""Assignments to the attributes of loaders that are built already."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language import classes, loops, watched
from dllint.code.language.bindings import AttributeWrite
from dllint.code.language.links import parent, scope_of
from dllint.code.language.modules import Module
from dllint.code.language.scopes import FunctionScope, Scope, dotted, last_name
from dllint.code.language.values import ClassRef, Frame, Instance, Product, Value, Values, bounds, by_default
from dllint.code.loaders import finding as loaders
from dllint.code.loaders.loader import Loader
from dllint.finding import Related
from dllint.patterns import pattern
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

REFUSED = frozenset({"batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"})
"""The attributes that `DataLoader.__setattr__` refuses once the loader is built."""
_MAKING = ("__init__", "__new__")
_WATCHED = REFUSED | {"num_workers", "shuffle"}
_LETTING_THROUGH = (b"__initialized", b"ccelerator.prepare(")
"""What switches the check off: the flag itself, written out or within a class DataLoader, and accelerate's wrappers,
which never set it."""
_WATCHED_WORDS = frozenset(name.encode() for name in _WATCHED)
_SET = pattern(rb"\.(?:%s)\s*[-+*/]*=[^=]" % b"|".join(sorted(_WATCHED_WORDS)))
_LOADER_BEFORE = pattern(rb"(?i:load|dl)\w*(?:\[[^\]\n]*\])?$")
_LONGEST_NAME = 100


@dataclass(frozen=True)
class LateAttribute:
    """One assignment to an attribute of something that is certainly a loader."""

    program: Program
    write: AttributeWrite
    frame: Frame
    holders: Values
    """The loaders that it is an attribute of."""

    @property
    def module(self) -> Module:
        """The module that it stands in."""
        return self.frame.scope.module

    @cached_property
    def loaders(self) -> list[Loader]:
        """The constructions of these loaders."""
        return [loader for holder in self.holders for loader in self.program.facts.loaders_made_by(holder)]

    @property
    def is_refused(self) -> bool:
        """Whether the loader refuses it."""
        return self.write.name in REFUSED

    @property
    def is_of_project_class(self) -> bool:
        """Whether the project's own loader class may make something of the attribute."""
        return any(isinstance(holder, Instance) for holder in self.holders)

    @property
    def is_as_built(self) -> bool:
        """Whether it stores what the loader was built with, for who reads it later: `loader.shuffle = shuffle`."""
        stored = self.write.binding.value
        given = [loader.arguments.get(self.write.name) for loader in self.loaders]
        if not given or not isinstance(stored, ast.expr):
            return False
        return all(each is not None and ast.dump(each.node) == ast.dump(stored) for each in given)

    @property
    def gives_workers_to_loader_without(self) -> bool:
        """Whether it sets a number of workers above 0 on a loader built with 0, and no prefetch_factor beside it."""
        binding, pins = self.write.binding, self.program.pins_of(self.module)
        if binding.kind != "assign" or binding.value is None or pins.torch_is_below((2, 0)):
            return False  # torch 1.x kept a prefetch_factor of 2 without workers too
        counts = [bounds(v) for v in by_default(self.program.evaluator.values(binding.value, self.frame))]
        if not all(span is not None and (span[0] or 0) > 0 for span in counts) or not self.loaders:
            return False
        holder = dotted(self.write.target.value)
        beside = any(w.name == "prefetch_factor" and dotted(w.target.value) == holder for w in self.frame.scope.writes)
        return not beside and all(loader.defaults_to_no_workers for loader in self.loaders)

    def related(self) -> list[Related]:
        """Where the loader is built."""
        return [Related("the loader is built here", loader.location) for loader in self.loaders[:1]]


def find(program: Program) -> Iterator[LateAttribute]:
    """The assignments to watched attributes of loaders, in the modules that may hold one."""
    for module in _modules(program):
        lines = sorted({line for name in _WATCHED for line in module.lines_with(name)})
        for scope in module.scopes_around(lines):
            yield from _in_scope(program, scope)


def _modules(program: Program) -> Iterator[Module]:
    """The modules that may set such an attribute: those that may build loaders, and those that name one as they set."""
    seeds = {id(module) for module in program.parsed_seeds}
    for module in program.modules.by_file.values():
        speaks = not _WATCHED_WORDS.isdisjoint(module.words) if id(module) in seeds else _sets_on_loader(module)
        if not module.is_target or not speaks:
            continue
        if not any(word in module.data for word in _LETTING_THROUGH) and module.is_sound:
            yield module


def _sets_on_loader(module: Module) -> bool:
    """Whether a text assigns a watched attribute of something that is called a loader."""
    if not any(map(module.has, watched.OF_A_LOADER)):
        return False
    data = module.data
    starts = (found.start() for found in _SET.finditer(data))
    return any(_LOADER_BEFORE.search(data, max(0, start - _LONGEST_NAME), start) for start in starts)


def _in_scope(program: Program, scope: Scope) -> Iterator[LateAttribute]:
    frame = Frame(scope)
    for write in scope.index().writes:
        if write.name not in _WATCHED or write.element or _goes_round(write) or _is_caught(write.node):
            continue
        holders = by_default(program.evaluator.values(write.target.value, frame))
        guarded = bool(holders) and all(_is_guarded_loader(program, holder) for holder in holders)
        if guarded and not _is_before_init(program, write, scope):
            yield LateAttribute(program, write, frame, holders)


def _goes_round(write: AttributeWrite) -> bool:
    """Whether `object.__setattr__(loader, ...)` goes past the loader's own check."""
    return isinstance(write.node, ast.Call) and last_name(write.node.func) == "__setattr__"


def _is_guarded_loader(program: Program, value: Value) -> bool:
    """Whether a value is a loader that watches its attributes: torch's, or one that derives from it."""
    if isinstance(value, Product):
        return loaders.is_loader(program, value) and value.name in apis.GUARDED_LOADERS
    if not isinstance(value, Instance) or classes.method(program.evaluator, value.cls, "__setattr__") is not None:
        return False
    return any(base in apis.GUARDED_LOADERS for base in classes.external_bases(program.evaluator, value.cls))


def _is_before_init(program: Program, write: AttributeWrite, scope: Scope) -> bool:
    """Whether a loader class sets its own attribute before the library's `__init__` has run: in its own, or in a method
    that this alone calls, before."""
    if not isinstance(scope, FunctionScope) or not isinstance(write.target.value, ast.Name):
        return False
    if write.target.value.id != scope.receiver_name:
        return False
    if scope.name in _MAKING:
        return _comes_first(program, write.node, scope)
    sites = [(call, frame.scope) for call, frame in program.call_sites(scope)]
    return bool(sites) and all(at.name in _MAKING and _comes_first(program, call, at) for call, at in sites)


def _comes_first(program: Program, node: ast.AST, making: Scope) -> bool:
    """Whether no `__init__` of the library has run before a node of one that calls it."""
    inits = [call for call in making.calls if last_name(call.func) == "__init__" and _may_be_guarded(program, call)]
    earlier = (call for call in inits if (call.lineno, call.col_offset) < _position(node))
    return all(_leaves_after(call, node) for call in earlier)


def _may_be_guarded(program: Program, init: ast.Call) -> bool:
    """Whether an `__init__` that is called may be that of the library's loader: not that of another base class."""
    holder = init.func.value if isinstance(init.func, ast.Attribute) else None
    if not isinstance(holder, ast.Name):
        return True
    found = program.evaluator.values(holder, Frame(scope_of(init)))
    for value in found:
        bases = classes.external_bases(program.evaluator, value.cls) if isinstance(value, ClassRef) else None
        if bases is None or any(base in apis.GUARDED_LOADERS for base in bases):
            return True
    return not found


def _leaves_after(call: ast.Call, later: ast.AST) -> bool:
    """Whether a call stands in a branch that returns, so that what comes later is not reached after it."""
    at = parent(call)
    while at is not None and not isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef)):
        around = parent(at)
        for branch in (around.body, around.orelse) if isinstance(around, ast.If) else ():
            if at in branch and loops.ends(branch) and _position(later) > _end(branch[-1]):
                return True
        at = around
    return False


def _end(node: ast.stmt) -> tuple[int, int]:
    return (node.end_lineno or 0, node.end_col_offset or 0)


def _position(node: ast.AST) -> tuple[int, int]:
    return (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))


def _is_caught(node: ast.AST) -> bool:
    """Whether a refusal is expected: `try:`, `with pytest.raises(ValueError):`."""
    child, at = node, parent(node)
    while at is not None and not isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
        if isinstance(at, ast.Try) and at.handlers and any(child is statement for statement in at.body):
            return True
        names = [last_name(item.context_expr) for item in at.items] if isinstance(at, ast.With) else []
        if any(name in ("raises", "assertRaises", "assertRaisesRegex", "suppress") for name in names):
            return True
        child, at = at, parent(at)
    return False
