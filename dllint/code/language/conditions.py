"""The conditions around a node: which they are, and what they say about a name."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from dllint.code.language import folding
from dllint.code.language.bindings import Binding
from dllint.code.language.links import (
    Block,
    Condition,
    Place,
    block_of,
    conditions_of,
    names_in,
    parent,
    places_in,
    scope_of,
    set_conditions_of,
    set_names_in,
    set_places_in,
)
from dllint.code.language.reaching import reaching
from dllint.code.language.scopes import dotted
from dllint.code.language.values import (
    UNKNOWNS,
    Const,
    Frame,
    Instance,
    Number,
    Product,
    Value,
    Values,
    is_plain_object,
)

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator

_DEFINING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
_MOST_CONDITIONS = 30
"""Tests around one node that are looked at, the nearest first."""
_NOWHERE = Place(False, ())


def narrowed(ev: Evaluator, node: ast.Name | ast.Attribute, found: Values, frame: Frame) -> Values:
    """`found` without the constants that the conditions passed on the way to `node` rule out."""
    if len(ev.assumed) > 3 or not any(isinstance(v, (Const, Number, Instance, Product)) for v in found):
        return found
    key = dotted(node)
    if not key:
        return found
    tests = [(test, outcome) for test, outcome in leading_to(node) if mentions(test, key)]
    if not tests:
        return found
    by_class = [(test, outcome) for test, outcome in tests if mentions(test, "isinstance")]
    if not by_class and not any(isinstance(v, (Const, Number)) for v in found):
        return found
    kept = tuple(
        value
        for value in found
        if not _ruled_out(ev, key, value, tests if isinstance(value, (Const, Number)) else by_class, frame)
    )
    return kept or UNKNOWNS


def survivors(ev: Evaluator, name: str, groups: list[tuple[Binding, Values]], frame: Frame) -> Iterator[Values]:
    """The values of several bindings, without those that `if x is None: x = 4` replaces."""
    if len(groups) > _MOST_CONDITIONS:
        yield from (values for _, values in groups)
        return
    groups = _on_taken_branches(ev, groups, frame)
    for binding, values in groups:
        tests = [
            (other.block.owner.test, other.block.branch != "body")
            for other, _ in groups
            if isinstance(other.block.owner, ast.If)
            and other is not binding
            and binding.block.holds(other.block)
            and other.block is not binding.block
            and mentions(other.block.owner.test, name)
        ]
        yield tuple(_capped(v, name, tests) for v in values if not tests or not _ruled_out(ev, name, v, tests, frame))


def _on_taken_branches(
    ev: Evaluator, groups: list[tuple[Binding, Values]], frame: Frame
) -> list[tuple[Binding, Values]]:
    """The bindings of branches that may be taken; only those of a branch, and later ones, that certainly is."""
    if not any(isinstance(binding.block.owner, ast.If) for binding, _ in groups):
        return groups
    found = [value for _, values in groups for value in values]
    if not any(isinstance(value, (Const, Number)) or is_plain_object(value) for value in found):
        return groups
    kept: list[tuple[Binding, Values]] = []
    for binding, values in groups:
        owner, branch = binding.block.owner, binding.block.branch
        is_asked = branch in ("body", "orelse")
        taken = folding.verdict(ev, owner.test, frame) if isinstance(owner, ast.If) and is_asked else None
        if taken is (branch != "body") and taken is not None:
            continue
        if taken is not None:
            kept = [(b, v) for b, v in kept if not b.block.holds(binding.block)]
        kept.append((binding, values))
    return kept or groups


def is_ruled_out(ev: Evaluator, block: Block, frame: Frame) -> bool:
    """Whether a block is a branch that what is assumed rules out."""
    owner = block.owner
    if not isinstance(owner, ast.If) or block.branch not in ("body", "orelse"):
        return False
    return folding.verdict(ev, owner.test, frame) is (block.branch != "body")


def ruled_out_around(ev: Evaluator, node: ast.AST, frame: Frame) -> Iterator[ast.If]:
    """The `if`s around a node whose test is known to lead past it, by what its function is given."""
    for block in block_of(node).chain() if frame.call is not None else ():
        if isinstance(block.owner, ast.If) and is_ruled_out(ev, block, frame):
            yield block.owner


def is_unreachable(ev: Evaluator, node: ast.AST, frame: Frame) -> bool:
    """Whether a test on the way to a node is known to come out otherwise, by what its function is given."""
    return any(folding.verdict(ev, test, frame) is (not outcome) for test, outcome in leading_to(node))


def _capped(value: Value, name: str, tests: list[tuple[ast.expr, bool]]) -> Value:
    """A number after `if n > 8: n = 8`: bounded, by whatever it is compared with."""
    if not isinstance(value, Number) or value.high is not None:
        return value
    for test, _ in tests:
        ordered = isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Gt, ast.GtE, ast.Lt, ast.LtE))
        if ordered and mentions(test, name):
            return Number(value.low, None, value.node)
    return value


def within(values: Values, branch: ast.expr, test: ast.expr) -> Values:
    """The values of a branch whose test compares the very expression, `8 if cpu_count() > 8 else cpu_count()`: a number
    of processors has a bound there."""
    if not any(isinstance(value, Number) and value.cpus for value in values) or not isinstance(test, ast.Compare):
        return values
    text = ast.dump(branch)
    if not any(ast.dump(side) == text for side in (test.left, *test.comparators)):
        return values
    return tuple(Number(v.low, v.high, v.node) if isinstance(v, Number) and v.cpus else v for v in values)


def _ruled_out(ev: Evaluator, key: str, value: Value, tests: list[tuple[ast.expr, bool]], frame: Frame) -> bool:
    if not isinstance(value, (Const, Number, Instance, Product)) or not tests:
        return False
    ev.assumed.append((key, value))
    try:
        return any(folding.verdict(ev, test, frame) is (not outcome) for test, outcome in tests)
    finally:
        ev.assumed.pop()


def mentions(test: ast.expr, key: str) -> bool:
    """Whether a condition speaks of a dotted name."""
    names = names_in(test)
    if names is None:
        names = frozenset(dotted(part) for part in ast.walk(test) if isinstance(part, (ast.Name, ast.Attribute)))
        set_names_in(test, names)
    return key in names


def leading_to(node: ast.AST) -> list[tuple[ast.expr, bool]]:
    """The tests that decide whether `node` is reached, with the outcome that leads to it."""
    found = conditions_of(node)
    if found is not None:
        return found
    path: list[ast.AST] = [node]
    at = parent(node)
    while at is not None and conditions_of(at) is None and not isinstance(at, _DEFINING):
        path.append(at)
        at = parent(at)
    known = (conditions_of(at) if at is not None else None) or []
    while path:
        child = path.pop()
        own = list(_own_conditions(child, at)) if at is not None else []
        known = (own + known)[:_MOST_CONDITIONS] if own else known
        set_conditions_of(child, known)
        at = child
    return known


def each_alone(tests: Iterable[Condition]) -> Iterator[Condition]:
    """The same conditions, those that are joined one by one where all of them must hold; of flags what they hold."""
    for given, wanted in tests:
        test, outcome = without_not(given, wanted)
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is outcome:
            yield from each_alone((part, outcome) for part in test.values)
        else:
            behind = flagged(test)
            if behind is not None and behind is not test:
                yield from each_alone([(behind, outcome)])
            yield test, outcome


def flagged(test: ast.expr) -> ast.expr | None:
    """The condition that a local flag holds: `in_worker = get_worker_info() is not None`."""
    bindings = scope_of(test).index().bindings.get(test.id, ()) if isinstance(test, ast.Name) else ()
    found = reaching(list(bindings), test) if bindings else []
    value = found[0].value if len(found) == 1 and found[0].kind == "assign" else None
    return value if isinstance(value, (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Call)) else None


def exclude(node: ast.AST, other: ast.AST) -> bool:
    """Whether two nodes stand under tests that contradict each other: `if x: ...`, and later `if not x: ...`."""
    mine = {_as_text(*each) for each in leading_to(node)}
    return any((text, not outcome) in mine for text, outcome in (_as_text(*each) for each in leading_to(other)))


def _as_text(test: ast.expr, outcome: bool) -> tuple[str, bool]:
    test, outcome = without_not(test, outcome)
    return ast.unparse(test), outcome


def without_not(test: ast.expr, outcome: bool) -> Condition:
    """A condition without the `not`s around it, and how it then has to come out."""
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, outcome = test.operand, not outcome
    return test, outcome


def _own_conditions(child: ast.AST, at: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """The tests that decide, within `at`, whether its part `child` is reached."""
    if isinstance(at, ast.IfExp) and child is not at.test:
        yield at.test, child is at.body
    elif isinstance(at, ast.BoolOp):
        for part in at.values[:_MOST_CONDITIONS]:
            if part is child:
                break
            yield part, isinstance(at.op, ast.And)
    elif isinstance(at, (ast.If, ast.While)) and child is not at.test:
        yield at.test, _place_of(child, at).in_body
    if isinstance(child, ast.stmt):
        yield from _place_of(child, at).passed


def _place_of(statement: ast.AST, owner: ast.AST) -> Place:
    """Where a statement stands among those of its owner: found out for all of them at once, as a block may be long."""
    table = places_in(owner)
    if table is None:
        table = {}
        for name in ("body", "orelse", "finalbody"):
            block = getattr(owner, name, None)
            if isinstance(block, list):
                table.update((each, Place(name == "body", passed)) for each, passed in _all_passed(block))
        set_places_in(owner, table)
    return table.get(statement, _NOWHERE)


def _all_passed(block: list[ast.AST]) -> Iterator[tuple[ast.AST, Sequence[Condition]]]:
    """Each statement of a block with the tests that were passed before it."""
    passed: tuple[Condition, ...] = ()
    for statement in block:
        yield statement, passed
        if len(passed) < _MOST_CONDITIONS:
            passed += tuple(_left_by(statement))


def left_by_body(function: ast.AST) -> Iterator[Condition]:
    """What holds where a function comes to the end of its body."""
    for statement in getattr(function, "body", ()):
        yield from _left_by(statement)


def _left_by(statement: ast.AST) -> Iterator[Condition]:
    """What holds after a statement that leaves the block otherwise."""
    if isinstance(statement, ast.Assert):
        yield statement.test, True
    elif isinstance(statement, ast.If) and leaves(statement.body) and not statement.orelse:
        yield statement.test, False


def leaves(body: list[ast.stmt]) -> bool:
    """Whether statements end by leaving the function, or the turn of a loop."""
    return isinstance(body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))


def is_guarded(node: ast.AST) -> bool:
    """Whether a node stands under `if __name__ == "__main__"`, in any of the ways in which that is written."""
    return any(is_main_test(test) for test, outcome in leading_to(node) if outcome)


def is_main_test(test: ast.expr) -> bool:
    """Whether a condition asks whether the module is run itself."""
    return any(isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(test))
