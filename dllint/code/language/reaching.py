"""Which bindings of a name can be the one that a use sees."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
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
        outermost = certainly_bound(own, branches)
        if outermost.parent is None if block is None else outermost.holds(block):
            break
        bound.add(id(outermost))
        branches[id(outermost.owner)].add(outermost.branch)
    found.reverse()
    return found


def certainly_bound(block: Block, bound: Mapping[int, set[str]]) -> Block:
    """The block that a binding is passed in on every way: the one around an `if` whose other branch binds, too. `bound`
    has the branches that bind, by their `if`."""
    while isinstance(block.owner, ast.If) and block.parent is not None:
        if not bound.get(id(block.owner), set()) - {block.branch}:
            break
        block = block.parent
    return block


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
