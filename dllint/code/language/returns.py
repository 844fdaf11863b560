"""Whether a function may return None: by a return, by what it calls, or by coming to its end."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.code.language import conditions, flow, wrappers
from dllint.code.language.bindings import Binding
from dllint.code.language.flow import Passes
from dllint.code.language.links import block_of, parent, scope_of
from dllint.code.language.reaching import reaching
from dllint.code.language.replaced import Replacement, replacements
from dllint.code.language.scopes import FunctionScope, Scope
from dllint.code.language.values import Const, Frame, Function
from dllint.finding import Location, Related
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

_DEEPEST = 2
"""Calls from a function that its None is followed through."""


@dataclass(frozen=True, slots=True)
class NoneReturn:
    """A place that makes a function return None, or a sample with None in it."""

    location: Location
    what: str
    way: tuple[Related, ...] = ()


def none_returns(program: Program, frame: Frame, depth: int = 0) -> Iterator[NoneReturn]:
    """The places by which the function of a frame, or what the project puts around it, returns None for some data."""
    yield from _within(_Run(program, frame, depth, frozenset()))


class _Run(NamedTuple):
    """One activation that is looked into: so many calls deep, and within these functions, which are known."""

    program: Program
    frame: Frame
    depth: int
    known: frozenset[Scope]


def _within(run: _Run) -> Iterator[NoneReturn]:
    scope = run.frame.scope
    if not isinstance(scope, FunctionScope) or scope in run.known:
        return
    if not wrappers.is_entered_where(run.program, scope, _is_kept_back):
        yield from _of_body(run, scope)
    inside = run.known | {scope}
    for number, found in enumerate(around := replacements(run.program, scope)):
        if not any(_keeps_back(outer) for outer in around[:number]):
            yield from _of_replacement(_Run(run.program, found.frame, run.depth, inside), found, scope)


def _keeps_back(found: Replacement) -> bool:
    return bool(found.places) and all(_is_kept_back(node, inside) for node, inside in found.places)


def _of_replacement(run: _Run, found: Replacement, scope: FunctionScope) -> Iterator[NoneReturn]:
    """The same of a function that runs in the place of another."""
    hop = Related(f"{scope.qualname} is wrapped here", scope_of(found.node).module.location(found.node))
    name = found.scope.qualname
    for place in _of_body(run, found.scope):
        what = place.what.replace(name, f"{name}, which runs as {scope.qualname},", 1)
        yield NoneReturn(place.location, what, (hop, *place.way))


def _of_body(run: _Run, scope: FunctionScope) -> Iterator[NoneReturn]:
    if isinstance(scope.node, ast.Lambda) or scope.is_generator:
        return
    for returned in scope.returns:
        if not _is_left_out(run, returned):
            yield from _of_return(run, returned)
    found = flow.end_of(scope)
    if found is Passes.BY_DATA or (found is Passes.ALWAYS and _is_written_out(scope) and run.depth == 0):
        yield NoneReturn(
            scope.module.source.location(scope.node), f"{scope.qualname} comes to its end without a return"
        )


def _is_kept_back(call: ast.AST, frame: Frame) -> bool:
    """Whether what a call gives is not simply handed on: `while (sample := read(i)) is None: ...`."""
    around = parent(call)
    while isinstance(around, (ast.Await, ast.Tuple, ast.List, ast.Dict)):
        around = parent(around)
    if isinstance(around, ast.Assign) and isinstance(frame.scope, FunctionScope):
        names = [target.id for target in around.targets if isinstance(target, ast.Name)]
        return any(is_tested(frame.scope, name) for name in names)
    return not isinstance(around, (ast.Return, ast.Lambda, ast.AnnAssign))


def _is_left_out(run: _Run, node: ast.AST) -> bool:
    """Whether the conditions around a return do not hold in this activation, or only speak of the arguments."""
    blocks = [block for block in block_of(node).chain() if isinstance(block.owner, ast.If)]
    if any(conditions.is_ruled_out(run.program.evaluator, block, run.frame) for block in blocks):
        return True
    scope = run.frame.scope
    if run.depth == 0 or not blocks or not isinstance(scope, FunctionScope):
        return False
    test = blocks[0].owner.test if isinstance(blocks[0].owner, ast.If) else None
    return test is not None and not _finds_out(scope, test)


def _finds_out(scope: FunctionScope, test: ast.expr) -> bool:
    """Whether a test looks at the data (`os.path.exists(path)`), not only at what the arguments are."""
    looks = any(isinstance(part, (ast.Call, ast.Subscript)) for part in ast.walk(test))
    names = {part.id for part in ast.walk(test) if isinstance(part, ast.Name)}
    local = any(b.kind not in ("parameter", "import") for name in names for b in scope.bindings.get(name, ()))
    return (looks or local) and flow.depends_on_data(scope, test)


def _is_written_out(scope: FunctionScope) -> bool:
    """Whether a function does something: an abstract method has a docstring, `pass` or `...` only."""
    body = getattr(scope.node, "body", [])
    return any(not isinstance(s, ast.Pass) and not _is_constant(getattr(s, "value", s)) for s in body)


def _is_constant(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant)


def _of_return(run: _Run, node: ast.Return) -> Iterator[NoneReturn]:
    scope = run.frame.scope
    if node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None):
        yield NoneReturn(scope.module.location(node), f"{scope.qualname} returns None here")
        return
    for part in _parts(node.value):
        yield from _of_part(run, part, node)


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """A sample, or the parts of one that is put together on the spot."""
    if isinstance(node, (ast.Tuple, ast.List)):
        for element in node.elts:
            yield from _parts(element)
    elif isinstance(node, ast.Dict):
        for value in node.values:
            yield from _parts(value)
    else:
        yield node


def _of_part(run: _Run, part: ast.expr, node: ast.Return) -> Iterator[NoneReturn]:
    if isinstance(part, ast.Constant) and part.value is None:
        yield NoneReturn(run.frame.scope.module.location(node), "the sample has None in it here")
    elif isinstance(part, ast.Call):
        yield from _of_call(run, part)
    elif isinstance(part, ast.Name):
        yield from _of_name(run, part)
    elif isinstance(part, ast.IfExp) and _is_by_data(run.frame, part.test):
        for branch in (part.body, part.orelse):
            yield from _of_part(run, branch, node)


def _is_by_data(frame: Frame, test: ast.expr) -> bool:
    """Whether the data decides a conditional expression; what asks for None itself passes one on, at most."""
    asks = any(isinstance(part, ast.Constant) and part.value is None for part in ast.walk(test))
    return isinstance(frame.scope, FunctionScope) and not asks and flow.depends_on_data(frame.scope, test)


def _of_call(run: _Run, call: ast.Call) -> Iterator[NoneReturn]:
    if run.depth >= _DEEPEST:
        return
    frame = run.frame
    functions = run.program.evaluator.values(call.func, frame)
    for value in functions:
        if not isinstance(value, Function) or len(functions) > 1:
            return
        inner = Frame(value.scope, value.receiver, call, frame, value.outer)
        hop = Related(f"{value.scope.qualname} called here", frame.scope.module.location(call))
        for found in _within(_Run(run.program, inner, run.depth + 1, run.known)):
            yield NoneReturn(found.location, found.what, (hop, *found.way))


def _of_name(run: _Run, name: ast.Name) -> Iterator[NoneReturn]:
    scope = run.frame.scope
    if not isinstance(scope, FunctionScope) or is_tested(scope, name.id):
        return
    bindings = scope.bindings.get(name.id, [])
    if all(binding.kind == "parameter" for binding in bindings):
        yield from _of_given(run, scope, name)
        return
    chosen = reaching(bindings, name)
    for binding in chosen:
        value = binding.value
        if binding.kind != "assign" or value is None:
            continue
        if isinstance(value, ast.Call) and len(chosen) == 1:
            yield from _of_call(run, value)
        elif isinstance(value, ast.Constant) and value.value is None and _may_stay(scope, binding, chosen):
            yield NoneReturn(scope.module.location(binding.node), f"{name.id} is None here, and stays so for some data")


def _of_given(run: _Run, scope: FunctionScope, name: ast.Name) -> Iterator[NoneReturn]:
    """What a function was given to return: `default=None` of this very call, or of the call that made it."""
    if scope.parent is None or not isinstance(scope.parent if name.id not in scope.bindings else scope, FunctionScope):
        return
    values = run.program.evaluator.values(name, run.frame)
    if all(isinstance(value, Const) and value.value is None for value in values):
        yield NoneReturn(scope.module.location(name), f"{scope.qualname} returns {name.id} here, which is None")


def _may_stay(scope: FunctionScope, binding: Binding, chosen: list[Binding]) -> bool:
    """Whether the data decides whether a later binding replaces one: a test of it, or an exception on the way."""
    for other in chosen:
        if other is binding:
            continue
        owner = other.block.owner
        if isinstance(owner, ast.If) and not flow.depends_on_data(scope, owner.test):
            return False
        if not isinstance(owner, ast.If) and not hasattr(owner, "handlers"):
            return False
    return len(chosen) > 1


def is_tested(scope: FunctionScope, name: str) -> bool:
    """Whether a function asks anything about a name: whatever it finds, it has thought of None."""
    if name not in scope.tested:
        scope.tested[name] = any(conditions.mentions(test, name) for test in scope.tests)
    return scope.tested[name]
