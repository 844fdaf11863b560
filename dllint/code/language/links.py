"""What indexing hangs on the nodes of a tree: the node around each, the block and the scope that it stands in.

`ast` does not declare these attributes. They are set and read here alone, and in the walk of `indexing`, for which a
call for each node is too slow.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from dllint.code.language.scopes import Scope

Condition = tuple[ast.expr, bool]
"""A test, and how it comes out."""


class Place(NamedTuple):
    """Where a statement stands among those of an `if`, a loop, a function ..."""

    in_body: bool
    passed: Sequence[Condition]
    """The tests of earlier statements that would have left the block."""


_CHOICES = (ast.If, ast.Match)
"""Statements of whose blocks one is passed."""


class Block:
    """A list of statements: the body, else-branch, handler ... of its owner. The outermost has no owner."""

    __slots__ = ("_is_passed_whole", "branch", "owner", "parent")

    def __init__(self, parent: Block | None, owner: ast.AST | None, branch: str) -> None:
        self.parent = parent
        self.owner = owner
        self.branch = branch
        self._is_passed_whole: bool | None = None

    @property
    def is_passed_whole(self) -> bool:
        """Whether all ways on from a statement go through the rest of it: a branch that nothing leaves for a loop."""
        if self._is_passed_whole is None:
            owner = self.owner
            is_branch = isinstance(owner, _CHOICES) or self.branch.startswith("handlers")
            self._is_passed_whole = (
                owner is not None
                and is_branch
                and not any(isinstance(part, (ast.Break, ast.Continue)) for part in ast.walk(owner))
            )
        return self._is_passed_whole

    def chain(self) -> Iterator[Block]:
        """This block, then the blocks around it, outwards."""
        block: Block | None = self
        while block is not None:
            yield block
            block = block.parent

    def holds(self, other: Block) -> bool:
        """Whether `other` is this block or lies within it."""
        return any(block is self or self._is_same(block) for block in other.chain())

    def _is_same(self, other: Block) -> bool:
        """Whether two objects stand for one block: a loop binds its target in a block of its own making."""
        return self.owner is not None and other.owner is self.owner and other.branch == self.branch

    def excludes(self, other: Block) -> bool:
        """Whether the two stand in different branches of one `if` or `match`: one run passes only one of them."""
        return other.is_elsewhere(self.branches())

    def branches(self) -> dict[int, str]:
        """The branches that it stands in, by their `if` or `match`."""
        return {id(block.owner): block.branch for block in self.chain() if isinstance(block.owner, _CHOICES)}

    def is_elsewhere(self, branches: dict[int, str]) -> bool:
        """Whether it stands in another branch of an `if` than one of these."""
        if not branches:
            return False
        return any(branches.get(id(block.owner), block.branch) != block.branch for block in self.chain())


def parent(node: ast.AST) -> ast.AST | None:
    """The node around `node`, within an indexed scope."""
    return getattr(node, "dll_parent", None)


def set_parent(node: ast.AST, around: ast.AST | None) -> None:
    """Say which node is around `node`."""
    linked: Any = node
    linked.dll_parent = around


def written_in(node: ast.AST) -> Scope | None:
    """The scope of the file that `node` is written in, where it was put into the tree of another one."""
    return getattr(node, "dll_home", None)


def set_written_in(node: ast.AST, scope: Scope) -> None:
    """Say in which file a node is written that is put into the tree of another one."""
    linked: Any = node
    linked.dll_home = scope


def bound_by(generator: ast.comprehension, name: str) -> Any:
    """The binding of a name by `for name in ...` of a comprehension, if that binds it."""
    return getattr(generator, "dll_bound", {}).get(name)


def set_bound(generator: ast.AST, name: str, binding: object) -> None:
    """Say what a comprehension binds."""
    linked: Any = generator
    linked.dll_bound = {**getattr(generator, "dll_bound", {}), name: binding}


def block_of(node: ast.AST) -> Block:
    """The block that the statement around `node` stands in."""
    at: ast.AST | None = node
    while at is not None:
        block: Block | None = getattr(at, "dll_block", None)
        if block is not None:
            return block
        at = parent(at)
    return Block(None, None, "body")


def set_block(statement: ast.AST, block: Block) -> None:
    """Say which block a statement stands in."""
    linked: Any = statement
    linked.dll_block = block


def mapped_by(call: ast.Call) -> ast.Call | None:
    """The call of its function that `map(function, items)` makes for each item, once it is known."""
    return getattr(call, "dll_mapped", None)


def set_mapped_by(call: ast.Call, made: ast.Call) -> None:
    """Keep the call that `map(function, items)` makes."""
    linked: Any = call
    linked.dll_mapped = made


def scope_of(node: ast.AST) -> Scope:
    """The scope whose indexing reached `node`."""
    at: ast.AST | None = node
    while at is not None:
        scope: Scope | None = getattr(at, "dll_scope", None)
        if scope is not None:
            return scope
        at = parent(at)
    raise LookupError("node of no indexed scope")


def set_scope(node: ast.AST, scope: Scope) -> None:
    """Say which scope a module, class, def or lambda opens."""
    linked: Any = node
    linked.dll_scope = scope


def names_in(node: ast.AST) -> frozenset[str] | None:
    """The dotted names in a test, once they are known."""
    return getattr(node, "dll_names", None)


def set_names_in(node: ast.AST, names: frozenset[str]) -> None:
    """Keep the dotted names in a test."""
    linked: Any = node
    linked.dll_names = names


def conditions_of(node: ast.AST) -> list[Condition] | None:
    """The tests that lead to a node, once they are known."""
    return getattr(node, "dll_conditions", None)


def set_conditions_of(node: ast.AST, conditions: list[Condition]) -> None:
    """Keep the tests that lead to a node."""
    linked: Any = node
    linked.dll_conditions = conditions


def places_in(owner: ast.AST) -> dict[ast.AST, Place] | None:
    """For each statement of a node's blocks where it stands there, once that is known."""
    return getattr(owner, "dll_places", None)


def set_places_in(owner: ast.AST, table: dict[ast.AST, Place]) -> None:
    """Keep where the statements of a node stand."""
    linked: Any = owner
    linked.dll_places = table


def bound_call(node: ast.AST) -> ast.Call | None:
    """The call that a partial stands for, once it is made."""
    return getattr(node, "dll_bound", None)


def set_bound_call(node: ast.AST, call: ast.Call) -> None:
    """Keep the call that a partial stands for."""
    linked: Any = node
    linked.dll_bound = call
