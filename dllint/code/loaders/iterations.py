"""Where main goes through a loader, and which loops repeat that: epoch loops, also around calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language import elements, loops
from dllint.code.language.links import parent, scope_of
from dllint.code.language.modules import Module
from dllint.code.language.parameters import passed
from dllint.code.language.scopes import FunctionScope, Scope, called_name, dotted, last_name
from dllint.code.language.values import External, Frame, Product, Value
from dllint.code.loaders import finding as loaders
from dllint.code.loaders.loader import Loader
from dllint.finding import Related
from dllint.patterns import pattern
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

_ITERATING = frozenset({"iter", "list", "tuple", "__iter__", "sorted", "set", "dict", "deque", "cycle", "extend"})
"""Last names of the calls that go through all that they are given."""
_NO_LOADERS = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.JoinedStr, ast.BinOp, ast.ListComp)
_NO_LOADER_CALLS = frozenset({"range", "items", "keys", "values", "split", "parameters", "listdir", "glob", "modules"})
"""What most loops go through: not worth a question."""
_DEEPEST = 3
"""Calls outwards in which an epoch loop is looked for."""
_MOST_USERS = 20
"""Modules that import one which builds loaders, and are looked at."""
_UNPACKED = pattern(rb"[\[({,][ \t]*\*[A-Za-z_]")
"""`[*loader]`."""
_LIKELY = pattern(
    rb"(?:\bfor\b[^\n]*\bin\b|\byield from\b|\b(?:iter|list|tuple|sorted|cycle|deque|extend)\("
    rb"|[\[({,][ \t]*\*(?=[A-Za-z_]))"
    rb"[^\n]{0,300}?(?:load|batch|data|dl\b|feed|iter|stream)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Iteration:
    """One place in main that starts the workers of a loader: a loop over it, or a call such as `iter(loader)`."""

    loader: Loader
    node: ast.AST
    """The loop, or the call."""
    named: ast.expr
    """The expression that is the loader."""
    frame: Frame

    @property
    def program(self) -> Program:
        """The program that it belongs to."""
        return self.loader.program

    @property
    def module(self) -> Module:
        """The module that it stands in."""
        return self.frame.scope.module

    def related(self) -> Related:
        """This place, for the way of a finding."""
        return Related("iterated here", self.module.location(head(self.node)))


@dataclass(frozen=True, slots=True)
class Repetition:
    """A loop that passes an iteration again and again, the loader staying the same."""

    iteration: Iteration
    loop: loops.Loop
    frame: Frame
    """The frame that the loop stands in."""
    node: ast.AST
    """What of its body leads to the iteration: the iteration itself, or a call."""
    hops: tuple[Related, ...]
    """The calls from the loop to the iteration."""

    def way(self) -> list[Related]:
        """From the loop to the iteration."""
        at = self.frame.scope.module.location(head(self.loop))
        return [Related("repeated by this loop", at), *self.hops, self.iteration.related()]


def head(node: ast.AST) -> ast.AST:
    """Of a loop what it goes through, or its test; any other node as it is."""
    if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        return node.iter
    return node.test if isinstance(node, ast.While) else node


def find(program: Program, module: Module) -> Iterator[Iteration]:
    """The iterations of loaders that stand in a module."""
    lines = _lines(module) if module in program.facts.building_modules else _likely_lines(module)
    if lines and module.is_sound:
        known = set(lines)
        for scope in module.scopes_around(lines):
            yield from _in_scope(program, scope, known)


def _lines(module: Module) -> list[int]:
    others = [name for word in _ITERATING for name in module.other_names(word)]
    found = {line for word in ("for", "yield", *_ITERATING, *others) for line in module.lines_with(word)}
    return sorted(found | {module.line_of(match.end()) for match in _UNPACKED.finditer(module.data)})


def _likely_lines(module: Module) -> list[int]:
    """Where a module that builds no loader may go through one: the name tells, as far as it is cheap to ask."""
    return sorted({module.line_of(match.end()) for match in _LIKELY.finditer(module.data)})


def modules_near(program: Program, module: Module) -> list[Module]:
    """A module that builds loaders, and those that may go through them: its importers, and what these import."""
    users = program.importers(module)[:_MOST_USERS]
    found = {id(near): near for user in users for near in (user, *program.imported_by(user))}
    return list(found.values())


def in_function(program: Program, scope: FunctionScope) -> list[Iteration]:
    """The iterations of loaders that stand in one function, whatever its module is about."""
    return list(_in_scope(program, scope, set(range(scope.node.lineno, (scope.node.end_lineno or 0) + 1))))


def _in_scope(program: Program, scope: Scope, lines: set[int]) -> Iterator[Iteration]:
    """The iterations that stand in one scope, on these lines."""
    frame = Frame(scope)
    for node, subject in _subjects(program, scope, frame, lines):
        yield from (Iteration(loader, node, named, frame) for loader, named in iterated(program, subject, frame))


def _subjects(program: Program, scope: Scope, frame: Frame, lines: set[int]) -> Iterator[tuple[ast.AST, ast.expr]]:
    """What may go through a loader, and the expression that would be that loader."""
    for loop in scope.index().loops:
        if loop.iter.lineno in lines or getattr(loop, "lineno", 0) in lines:
            yield loop, loop.iter
    for passed_on in scope.yields:
        if isinstance(passed_on, ast.YieldFrom):
            yield passed_on, passed_on.value
    for unpacked in scope.unpacked:
        if unpacked.lineno in lines:
            yield unpacked, unpacked.value
    for call in scope.calls:
        if call.lineno in lines and called_name(call, scope, _ITERATING) in _ITERATING and not _is_looped_over(call):
            subject = _started_by(program, call, frame)
            if subject is not None:
                yield call, subject


def _is_looped_over(call: ast.Call) -> bool:
    """Whether a loop over the call's result is the iteration."""
    around = parent(call)
    return isinstance(around, (ast.For, ast.AsyncFor, ast.comprehension)) and around.iter is call


def _started_by(program: Program, call: ast.Call, frame: Frame) -> ast.expr | None:
    """The expression that `iter(x)`, `list(x)`, `itertools.cycle(x)` or `x.__iter__()` goes through."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "__iter__":
        return None if call.args else call.func.value
    if isinstance(call.func, ast.Attribute) and call.func.attr == "extend":
        return call.args[0] if len(call.args) == 1 else None
    names = {v.name for v in program.evaluator.values(call.func, frame) if isinstance(v, External)}
    return call.args[0] if call.args and names & apis.ITERATES else None


def iterated(program: Program, node: ast.expr, frame: Frame, depth: int = 0) -> Iterator[tuple[Loader, ast.expr]]:
    """The loaders that going through an expression starts, each with the part of the expression that is the loader."""
    if isinstance(node, ast.Starred):
        found = program.evaluator.values(node.value, frame)
        for value in elements.elements(program.evaluator, node.value, found, frame):
            if loaders.is_loader(program, value):
                yield from ((loader, node.value) for loader in program.facts.loaders_made_by(value))
        return
    if isinstance(node, _NO_LOADERS) or last_name(node) in _NO_LOADER_CALLS or depth > _DEEPEST:
        return
    if isinstance(node, ast.Call) and _passes_on(program, node, frame):
        for argument in node.args:
            yield from iterated(program, argument, frame, depth + 1)
        return
    for value in map(loaders.without_pipes, program.evaluator.values(node, frame)):
        wrapped = _wrapped(value)
        for argument, home in wrapped:
            inner = iterated(program, argument, home, depth + 1)
            yield from ((loader, part if home is frame else node) for loader, part in inner)
        if not wrapped and loaders.is_loader(program, value):
            yield from ((loader, node) for loader in program.facts.loaders_made_by(value))


def _passes_on(program: Program, call: ast.Call, frame: Frame) -> bool:
    """Whether a call such as `enumerate(x)`, `tqdm(x)` only passes on what it goes through."""
    found = program.evaluator.values(call.func, frame)
    return any(isinstance(v, External) and v.name in apis.ITERATES for v in found)


def _wrapped(value: Value) -> list[tuple[ast.expr, Frame]]:
    """What a progress bar and its like go through: `bar = tqdm(loader)`. An iterator has started the workers before."""
    if not isinstance(value, Product) or value.name not in apis.ITERATES or value.name == "builtins.iter":
        return []
    return [(argument, value.frame) for argument in value.node.args]


def repetitions(program: Program, iteration: Iteration) -> Iterator[Repetition]:
    """The innermost loop on each way to an iteration that repeats it over the same loader."""
    yield from _outwards(program, iteration, iteration.node, iteration.named, iteration.frame, ())


def _outwards(
    program: Program,
    iteration: Iteration,
    node: ast.AST,
    named: ast.expr | None,
    frame: Frame,
    hops: tuple[Related, ...],
) -> Iterator[Repetition]:
    for loop in loops.around(node):
        if loops.runs_once(program, loop, frame) or (named is not None and loops.changes(named, loop)):
            continue
        if not is_built_within(program, iteration.loader, loop):
            yield Repetition(iteration, loop, frame, node, hops)
        return
    for call, given, caller in entered_by(program, named, frame, iteration.loader) if len(hops) < _DEEPEST else ():
        hop = Related(f"{frame.scope.qualname} called here", caller.scope.module.location(call))
        yield from _outwards(program, iteration, call, given, caller, (hop, *hops))


def entered_by(
    program: Program, named: ast.expr | None, frame: Frame, loader: Loader
) -> Iterator[tuple[ast.Call, ast.expr | None, Frame]]:
    """The calls that enter a function, each with what it passes for `named`; without those that pass other loaders."""
    scope = frame.scope
    if not isinstance(scope, FunctionScope) or isinstance(scope.node, ast.Lambda):
        return
    parameter = _parameter(named, scope)
    for call, caller in program.call_sites(scope):
        given = passed(parameter, scope, call)[0] if parameter else None
        if given is None or _may_be(program, given, caller, loader):
            yield call, given, caller


def handed_in(
    program: Program, named: ast.expr, frame: Frame, loader: Loader
) -> Iterator[tuple[ast.Call, ast.expr, Frame]]:
    """The calls that pass the loader in as the parameter that `named` starts from."""
    for call, given, caller in entered_by(program, named, frame, loader):
        if given is not None:
            yield call, given, caller


def _parameter(named: ast.expr | None, scope: FunctionScope) -> str:
    """The parameter that an expression starts from; an empty string if it starts from something else."""
    root = dotted(named).partition(".")[0] if named is not None else ""
    is_own = any(p.arg == root for p in scope.parameters) and root != scope.receiver_name
    return root if is_own else ""


def _may_be(program: Program, node: ast.expr, frame: Frame, loader: Loader) -> bool:
    made = [one.construction for one, _ in iterated(program, node, frame)]
    return not made or any(construction is loader.construction for construction in made)


def is_built_within(program: Program, loader: Loader, loop: loops.Loop) -> bool:
    """Whether a loop builds the loader anew each time: in its body, or in a function that it calls."""
    return _comes_from(program, loader.construction, loop, 0)


def _comes_from(program: Program, node: ast.AST, loop: loops.Loop, depth: int) -> bool:
    if any(around is loop for around in loops.around(node)):
        return True
    try:
        scope = scope_of(node)
    except LookupError:
        return False
    if not isinstance(scope, FunctionScope) or depth >= _DEEPEST:
        return False
    return any(_comes_from(program, call, loop, depth + 1) for call, _ in program.call_sites(scope))
