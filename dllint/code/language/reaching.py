"""Which bindings of a name can be the one that a use sees."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from dllint.code.language.bindings import Binding
from dllint.code.language.links import Block, block_of, bound_by, parent

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def reaching(bindings: list[Binding], use: ast.AST | None) -> list[Binding]:
    """The bindings (in source order) that may hold at `use`; those that hold at the end of the scope if it is None."""
    if len(bindings) == 1:
        return bindings
    if use is None:
        return _alive(reversed(_not_inner(bindings)), None)
    inner = _comprehension_binding(bindings, use)
    if inner:
        return inner
    bindings = _not_inner(bindings)
    at = _statement_position(use)
    block = block_of(use)
    first_after = bisect_left(bindings, at, key=_start)
    before = map(bindings.__getitem__, range(first_after - 1, -1, -1))
    branches = block.branches()
    alive = _alive((binding for binding in before if not binding.block.is_elsewhere(branches)), block)
    loop = _outermost_loop(block)
    if loop is None:
        return alive or bindings
    behind = bindings[first_after : bisect_left(bindings, _end(loop), key=_start)]
    looped = [binding for binding in behind if _comes_round(binding.block, block, alive)]
    return alive + looped or bindings


def _alive(latest_first: Iterable[Binding], block: Block | None) -> list[Binding]:
    """Those that no later binding on every way hides, in source order."""
    found: list[Binding] = []
    bound: set[int] = set()
    branches: defaultdict[int, set[str]] = defaultdict(set)
    for binding in latest_first:
        own = binding.block
        if id(own) in bound and own.is_passed_whole:  # a later binding in the same branch
            continue
        found.append(binding)
        if _extends(binding):
            continue
        outermost = certainly_bound(own, branches, block)
        if outermost.parent is None if block is None else outermost.holds(block):
            break
        bound.add(id(outermost))
        branches[id(outermost.owner)].add(outermost.branch)
    found.reverse()
    return found


def first_alive(blocks: Sequence[Block], here: Block | None) -> int | None:
    """Which of several blocks, in the order of their lines, is the first of which a binding may still hold in a block,
    or at the end; None if what was before the first may hold as well."""
    passed: defaultdict[int, set[str]] = defaultdict(set)
    for place in range(len(blocks) - 1, -1, -1):
        outermost = certainly_bound(blocks[place], passed, here)
        if outermost.parent is None if here is None else outermost.holds(here):
            return place
        passed[id(outermost.owner)].add(outermost.branch)
    return None


def certainly_bound(block: Block, bound: Mapping[int, set[str]], use: Block | None) -> Block:
    """The block that a binding is passed in on every way to a block, or to the end: the one around an `if` whose other
    branch binds, too. `bound` has the branches that bind, by their `if`, `match` or `try`."""
    while block.parent is not None:
        around = _AROUND.get(type(block.owner))
        others = bound.get(id(block.owner))
        if around is None or not around(block.owner, {block.branch, *(others or ())}, use):
            break
        block = block.parent
    return block


def _around_if(owner: ast.If, bound: set[str], _: Block | None) -> bool:
    return len(bound) > 1


def _around_match(owner: ast.Match, bound: set[str], use: Block | None) -> bool:
    last = owner.cases[-1]
    takes_all = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None and last.guard is None
    bodies = ((f"cases{number}", case.body) for number, case in enumerate(owner.cases))
    return takes_all and all(name in bound or _leaves(body) for name, body in bodies) and not _is_in(use, owner)


def _around_try(owner: ast.Try, bound: set[str], use: Block | None) -> bool:
    if _is_in(use, owner):
        return False
    if "finalbody" in bound:
        return True
    bodies = ((f"handlers{number}", handler.body) for number, handler in enumerate(owner.handlers))
    is_tried = "body" in bound or "orelse" in bound
    return is_tried and all(name in bound or _leaves(body) for name, body in bodies)


_AROUND: dict[type[ast.AST] | type[None], Callable[[Any, set[str], Block | None], bool]] = {
    ast.If: _around_if,
    ast.Match: _around_match,
    ast.Try: _around_try,
}
"""Whether what some blocks of a statement bind is bound whenever the statement is passed."""


def _leaves(body: list[ast.stmt]) -> bool:
    """Whether nothing comes behind a block."""
    return isinstance(body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))


def _is_in(use: Block | None, owner: ast.AST) -> bool:
    return use is not None and any(block.owner is owner for block in use.chain())


def _extends(binding: Binding) -> bool:
    """`steps += [...]` adds to what was there."""
    return binding.kind == "augmented" and isinstance(getattr(binding.value, "value", None), (ast.List, ast.ListComp))


def _not_inner(bindings: list[Binding]) -> list[Binding]:
    """Those that no comprehension makes, if there are any. A comprehension has no position: they come first."""
    first = bisect_left(bindings, (1, 0), key=_start)
    return bindings[first:] if 0 < first < len(bindings) else bindings


def _comprehension_binding(bindings: list[Binding], use: ast.AST) -> list[Binding]:
    """The binding by a comprehension that `use` stands in."""
    node: ast.AST | None = use
    while node is not None and not isinstance(node, ast.stmt):
        for generator in reversed(getattr(node, "generators", ())):
            binding = bound_by(generator, bindings[0].name)
            if binding is not None:
                return [binding]
        node = parent(node)
    return []


def _statement_position(use: ast.AST) -> tuple[int, int]:
    node: ast.AST | None = use
    while node is not None and not isinstance(node, ast.stmt):
        node = parent(node)
    at = node if node is not None else use
    return (getattr(at, "lineno", 0), getattr(at, "col_offset", 0))


def _start(binding: Binding) -> tuple[int, int]:
    node: Any = binding.node
    try:
        return node.lineno, node.col_offset
    except AttributeError:  # of a comprehension
        return 0, 0


def _outermost_loop(block: Block) -> ast.stmt | None:
    found: ast.stmt | None = None
    for around in block.chain():
        if isinstance(around.owner, _LOOPS):
            found = around.owner
    return found


def _end(statement: ast.stmt) -> tuple[int, int]:
    return statement.end_lineno or 0, statement.end_col_offset or 0


def _comes_round(later: Block, use: Block, before: list[Binding]) -> bool:
    """Whether a binding further down is seen in the next turn of a loop: not if each turn binds the name anew first."""
    around = {id(block.owner) for block in later.chain() if isinstance(block.owner, _LOOPS)}
    shared = next((block.owner for block in use.chain() if id(block.owner) in around), None)
    if shared is None:
        return False
    renewing = (b.block for b in before if b.block.holds(use) and not _extends(b))
    return not any(block.owner is shared for renewed in renewing for block in renewed.chain())
