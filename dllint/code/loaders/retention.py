"""What main keeps of a loader's batches while it goes through them: lists that grow, or the whole loader as a list."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language import conditions, elements, loops
from dllint.code.language.lines import ByLine
from dllint.code.language.links import parent, scope_of
from dllint.code.language.loops import Loop
from dllint.code.language.scopes import Scope, called_name, dotted, last_name
from dllint.code.language.stores import ADDING, Store, holder, is_emptied, is_sum, stores
from dllint.code.language.values import (
    Collection,
    Const,
    Derived,
    Frame,
    Function,
    Instance,
    Product,
    Value,
)
from dllint.code.loaders import drawn, passed_on
from dllint.code.loaders.drawn import Batch
from dllint.code.loaders.iterations import Iteration
from dllint.finding import Related
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.program import Program

_CONTAINERS = frozenset({"collections.defaultdict", "collections.deque", "collections.OrderedDict"})
_KEEPS_ALL = frozenset({"list", "tuple", "sorted", "set", "dict", "deque", "cycle", "extend", *apis.JOINS_TENSORS})
_GOES_THROUGH = _KEEPS_ALL | {"iter", "next"}
_SHOWS = frozenset({"print", "pprint"})
_OPEN_FILES = 1024
"""What a process may have open where nobody has raised the limit."""
_DEEPEST = 2
"""Calls that a batch is followed into."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A place that keeps what a loader's batches hold."""

    node: ast.AST
    frame: Frame
    batch: Batch
    expression: ast.expr
    """What is kept of each batch; with `is_all` what gives all of them."""
    way: tuple[Related, ...] = ()
    """The calls from the loop to this place."""
    is_all: bool = False
    """Whether a call such as `list(...)` keeps all batches at once."""


def of_iteration(program: Program, iteration: Iteration) -> Iterator[Kept]:
    """What one pass over a loader keeps."""
    if _is_cut(program, iteration):
        return
    node = iteration.node
    if isinstance(node, (ast.For, ast.AsyncFor)):
        yield from _in_loop(program, iteration, node, node.iter)
        if not _stops_early(node):
            yield from _passed_on(program, iteration, node.iter)
    elif isinstance(node, ast.YieldFrom):
        yield from _passed_on(program, iteration, node)
    elif isinstance(node, ast.comprehension):
        yield from _by_comprehension(program, iteration, node, node.iter)
    elif isinstance(node, ast.Call) and _called(node) in ("iter", "__iter__"):
        yield from _through_next(program, iteration)
    elif _takes_all(node):
        batch = Batch(iteration.loader, iteration.named, ())
        if drawn.is_tensor(program, batch):
            around = parent(node)
            at = around if isinstance(node, ast.Starred) and around is not None else node
            yield Kept(at, iteration.frame, batch, iteration.named, is_all=True)


def _takes_all(node: ast.AST) -> bool:
    """Whether a call or a display has all batches at once: `list(loader)`, `[*loader]`, `zip(*loader)`."""
    if isinstance(node, ast.Starred):
        return not _is_shown(parent(node)) and not _is_shown(node)
    return isinstance(node, ast.Call) and _called(node) in _KEEPS_ALL and not _is_bounded_call(node)


def _called(call: ast.Call) -> str:
    """The function that a call calls, also by another name of it: `grab = list`."""
    return called_name(call, scope_of(call), _GOES_THROUGH)


def _passed_on(program: Program, iteration: Iteration, source: ast.AST) -> Iterator[Kept]:
    """What is kept of the batches that a generator function goes through and yields."""
    for consumer in passed_on.consumers(program, iteration):
        node, frame = consumer.node, consumer.frame
        outer = Iteration(iteration.loader, node, iteration.named, frame)
        if isinstance(node, (ast.For, ast.AsyncFor)) and node.iter is consumer.given:
            yield from _in_loop(program, outer, node, source)
        elif isinstance(node, ast.comprehension) and node.iter is consumer.given:
            yield from _by_comprehension(program, outer, node, source)
        elif isinstance(node, ast.Call) and _called(node) in _KEEPS_ALL and not _is_bounded_call(node):
            for batch in _yielded_from(program, consumer.given, outer, source):
                yield Kept(node, frame, batch, consumer.given, is_all=True)
                break


def _yielded_from(program: Program, node: ast.expr, iteration: Iteration, source: ast.AST) -> Iterator[Batch]:
    """The batches of an iteration, as they are, among what going through an expression gives."""
    ev = program.evaluator
    for value in elements.elements(ev, node, ev.values(node, iteration.frame), iteration.frame):
        for batch in drawn.kept(program, value):
            if batch.loader is iteration.loader and _is_part(batch.source, source) and drawn.is_tensor(program, batch):
                yield batch


def _is_bounded_call(call: ast.Call) -> bool:
    """`deque(loader, maxlen=4)`; and `print(list(loader))`, which nobody does with more than a handful."""
    return _is_shown(call) or len(call.args) > 1 or any(keyword.arg == "maxlen" for keyword in call.keywords)


def _is_shown(node: ast.AST | None) -> bool:
    around = parent(node) if node is not None else None
    return isinstance(around, ast.Call) and isinstance(around.func, ast.Name) and around.func.id in _SHOWS


def _is_cut(program: Program, iteration: Iteration) -> bool:
    """Whether only the first batches are taken: `islice(loader, 4)`, `zip(range(4), loader)`."""
    head = _gone_through(iteration.node)
    if head is None:
        return False
    frame = iteration.frame
    calls = [(part, frame) for part in ast.walk(head) if isinstance(part, ast.Call)]
    calls += [(v.node, v.frame) for v in program.evaluator.values(head, frame) if isinstance(v, Product)]
    names = {last_name(call.func) for call, _ in calls}
    if "take" in names or ("zip" in names and "range" in names):
        return True
    return any(last_name(call.func) == "islice" and not _takes_many(program, call, at) for call, at in calls)


def _gone_through(node: ast.AST) -> ast.expr | None:
    """What a loop or a call goes through: `loader` of `iter(loader)` and `loader.__iter__()`."""
    if isinstance(node, ast.Call):
        inside = node.func.value if isinstance(node.func, ast.Attribute) else None
        return node.args[0] if node.args else inside
    head = getattr(node, "iter", getattr(node, "value", None))
    return head if isinstance(head, ast.expr) else None


def _takes_many(program: Program, call: ast.Call, frame: Frame) -> bool:
    """Whether `islice(loader, number)` surely takes more batches than a process may have open files."""
    if not 1 < len(call.args) < 4:
        return False
    found = program.evaluator.values(call.args[1 if len(call.args) == 2 else 2], frame)
    return all(isinstance(v, Const) and isinstance(v.value, int) and v.value > _OPEN_FILES for v in found)


def _by_comprehension(
    program: Program, iteration: Iteration, node: ast.comprehension, source: ast.AST
) -> Iterator[Kept]:
    around = parent(node)
    if isinstance(around, ast.GeneratorExp):
        call = parent(around)
        if not isinstance(call, ast.Call) or _called(call) not in _KEEPS_ALL | ADDING:
            return
    if not isinstance(around, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return
    if any(isinstance(part, ast.Compare) for test in node.ifs for part in ast.walk(test)):
        return
    element = around.value if isinstance(around, ast.DictComp) else around.elt
    for batch in _kept_from(program, element, iteration.frame, iteration, source):
        if drawn.is_tensor(program, batch) or _is_joined(around) or _is_used_as_tensor(element, around):
            yield Kept(around, iteration.frame, batch, element)
            return


def _kept_from(
    program: Program, node: ast.expr, frame: Frame, iteration: Iteration, source: ast.AST
) -> Iterator[Batch]:
    """The batches of this very iteration whose storages an expression keeps."""
    for value in program.evaluator.values(node, frame):
        for batch in drawn.kept(program, value):
            if batch.loader is iteration.loader and _is_part(batch.source, source):
                yield batch


def _is_part(node: ast.AST, whole: ast.AST) -> bool:
    return any(node is part for part in ast.walk(whole))


def _is_joined(node: ast.AST) -> bool:
    """Whether a list is handed to a function that takes tensors: `torch.cat([...])`."""
    around = parent(node)
    return isinstance(around, ast.Call) and last_name(around.func) in apis.JOINS_TENSORS


# Loops


def _in_loop(program: Program, iteration: Iteration, loop: Loop, source: ast.AST) -> Iterator[Kept]:
    if _stops_early(loop):
        return
    scope = iteration.frame.scope
    stored, called = _by_line(program, scope)
    for store in stored.within(loop):
        if loops.holds(loop, store.node) and not _is_bounded(program, store, loop, iteration.frame):
            yield from _kept_by(program, store, iteration.frame, iteration, source, loop)
    for call in called.within(loop):
        if loops.holds(loop, call) and _may_keep(call):
            yield from _in_callee(program, call, iteration.frame, iteration, source, ())


def _by_line(program: Program, scope: Scope) -> tuple[ByLine[Store], ByLine[ast.Call]]:
    """What a function stores, and its calls: asked for each of its loops."""
    memo = program.facts.by_line_memo
    if scope not in memo:
        memo[scope] = ByLine(stores(scope), lambda store: store.node), ByLine(scope.calls, lambda call: call)
    return memo[scope]


def _through_next(program: Program, iteration: Iteration) -> Iterator[Kept]:
    """`batches = iter(loader)`, and `next(batches)` in a loop."""
    scope = iteration.frame.scope
    for call in scope.calls:
        if _called(call) != "next" or not call.args:
            continue
        loop = next(iter(loops.around(call)), None)
        if loop is None or not isinstance(loop, ast.While) or loops.holds(loop, iteration.node):
            continue
        yield from _in_loop(program, iteration, loop, iteration.node)


def _kept_by(
    program: Program, store: Store, frame: Frame, iteration: Iteration, source: ast.AST, loop: Loop
) -> Iterator[Kept]:
    for batch in _kept_from(program, store.value, frame, iteration, source):
        if drawn.is_tensor(program, batch) or _is_shown_by_use(store, loop, frame.scope):
            yield Kept(store.node, frame, batch, store.value)
            return


def _stops_early(loop: ast.AST) -> bool:
    """Whether a loop is left once a number of batches, or of whatever is counted, is there."""
    for part in ast.walk(loop):
        if isinstance(part, (ast.Break, ast.Return)) and part is not loop:
            nearest = next(iter(loops.around(part)), None) if isinstance(part, ast.Break) else loop
            tests = [test for test, _ in conditions.leading_to(part)]
            if nearest is loop and any(isinstance(p, ast.Compare) for test in tests for p in ast.walk(test)):
                return True
    return False


def _is_bounded(program: Program, store: Store, loop: Loop, frame: Frame) -> bool:
    """Whether a container does not grow by each batch: it is made anew, emptied, or filled up to a number only."""
    return (
        _is_conditional(store.node, loop)
        or not _is_container(program, store.container, frame)
        or is_emptied(store, frame)
        or _is_renewed(store, loop, frame)
    )


def _is_conditional(node: ast.AST, loop: Loop) -> bool:
    """Whether a comparison within the loop decides: `if i < 8: shown.append(x)`."""
    inside = [test for test, _ in conditions.leading_to(node) if loops.holds(loop, test) or _is_part(test, loop)]
    return any(isinstance(part, ast.Compare) and not _is_mode(part, loop) for test in inside for part in ast.walk(test))


def _is_mode(test: ast.Compare, loop: Loop) -> bool:
    """Whether a comparison has one outcome for the whole loop, by what the program does: `split != "test"`."""
    named = any(isinstance(part, ast.Constant) and isinstance(part.value, str) for part in ast.walk(test))
    return named and not loops.changes(test, loop)


def _is_container(program: Program, node: ast.expr, frame: Frame) -> bool:
    """Whether an expression is known to be a list, dict or deque that grows without bound."""
    found = program.evaluator.values(node, frame)
    return bool(found) and all(_grows(program, value) for value in found)


def _grows(program: Program, value: Value) -> bool:
    if isinstance(value, Derived):
        picked = all(step.via in ("[]", ".setdefault()", ".get()") for step in value.chain())
        return picked and _grows(program, value.origin)
    if isinstance(value, Product):
        return value.name in _CONTAINERS and not any(k.arg == "maxlen" for k in value.node.keywords)
    return isinstance(value, Collection) and value.kind in ("list", "dict", "set", "tuple")


def _is_renewed(store: Store, loop: Loop, frame: Frame) -> bool:
    """Whether the container is made anew in each turn of the loop, or now and then."""
    held_by = holder(store.container)
    text = dotted(held_by)
    scope = frame.scope.index()
    if isinstance(held_by, ast.Name):
        anew = [b.node for b in scope.bindings.get(text, []) if not is_sum(b.node)]
    else:
        anew = [w.node for w in scope.writes if not w.element and dotted(w.target) == text and not is_sum(w.node)]
    return not text or any(loops.holds(loop, node) for node in anew)


def _is_shown_by_use(store: Store, loop: Loop, scope: Scope) -> bool:
    """Whether it shows elsewhere that what is kept are tensors: they are joined later, or used as tensors."""
    text = dotted(holder(store.container))
    joined = any(
        last_name(call.func) in apis.JOINS_TENSORS and any(dotted(argument) == text for argument in call.args)
        for call in scope.index().calls
        if text
    )
    return joined or _is_used_as_tensor(store.value, loop)


def _is_used_as_tensor(node: ast.expr, around: ast.AST) -> bool:
    """Whether the same name is used as only a tensor can be: `x.to(device)`, `x.size(0)`."""
    text = dotted(node)
    return bool(text) and any(
        isinstance(part, ast.Attribute) and part.attr in _TENSOR_WORDS and dotted(part.value) == text
        for part in ast.walk(around)
    )


_TENSOR_WORDS = frozenset({"to", "cuda", "size", "dim", "float", "long", "double", "half", "shape", "numel", "item"})


# Functions that are given the batch


def _may_keep(call: ast.Call) -> bool:
    return any(isinstance(a, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) for a in call.args)


def _in_callee(
    program: Program, call: ast.Call, frame: Frame, iteration: Iteration, source: ast.AST, way: tuple[Related, ...]
) -> Iterator[Kept]:
    """What a function of the project keeps that is given the batch, on an object that outlives the call."""
    given = [*call.args, *(k.value for k in call.keywords)]
    if len(way) >= _DEEPEST or not any(any(_kept_from(program, g, frame, iteration, source)) for g in given):
        return
    for function in program.evaluator.values(call.func, frame):
        if not isinstance(function, Function) or function.scope.is_generator:
            continue
        inner = Frame(function.scope, function.receiver, call, frame, function.outer)
        hops = (*way, Related(f"{function.scope.qualname} called here", frame.scope.module.location(call)))
        for store in stores(function.scope):
            if isinstance(holder(store.container), ast.Attribute) and _outlives(program, store, inner):
                for batch in _kept_from(program, store.value, inner, iteration, source):
                    if drawn.is_tensor(program, batch):
                        yield Kept(store.node, inner, batch, store.value, hops)
                        break
        for further in function.scope.calls:
            yield from _in_callee(program, further, inner, iteration, source, hops)


def _outlives(program: Program, store: Store, frame: Frame) -> bool:
    """Whether a method adds to an attribute of an object that keeps all that is added."""
    if not isinstance(frame.receiver, Instance) or not _is_container(program, store.container, frame):
        return False
    tests = [test for test, _ in conditions.leading_to(store.node)]
    if any(isinstance(part, ast.Compare) for test in tests for part in ast.walk(test)) or is_emptied(store, frame):
        return False
    text = dotted(holder(store.container))
    return not any(not w.element and dotted(w.target) == text for w in scope_of(store.node).writes)
