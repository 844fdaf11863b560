"""What changes a dict after it is made: by its name or attribute, in the function that passes it on and in others."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

from dllint.code.language import classes
from dllint.code.language.containers import is_of_module
from dllint.code.language.evaluator import Evaluator
from dllint.code.language.links import Block, block_of, parent, scope_of
from dllint.code.language.scopes import ClassScope, ModuleScope, Scope, dotted
from dllint.code.language.values import Collection, Frame, Instance
from dllint.records import dataclass

_MUTATING = ("pop", "setdefault", "update", "clear", "popitem")
_VIEWS = ("keys", "items", "list", "tuple", "sorted")


@dataclass(frozen=True, slots=True)
class Change:
    """One statement or call: it stores `value` under `key`, or calls the dict's `method`; `del` is one of these."""

    node: ast.AST
    method: str
    key: ast.expr | None = None
    value: ast.expr | None = None

    @property
    def name(self) -> str | None:
        """The key, where it is spelled out."""
        return self.key.value if isinstance(self.key, ast.Constant) and isinstance(self.key.value, str) else None

    @property
    def line(self) -> int:
        """Where it stands."""
        return getattr(self.node, "lineno", 0)

    @property
    def block(self) -> Block:
        """The block that is passed where it happens."""
        loop = self.whole_loop
        return block_of(self.node if loop is None else loop)

    @property
    def is_for_present(self) -> bool | None:
        """Whether it only happens where its key is there, `if "device" in options: ...`, or (False) where it is not."""
        block = block_of(self.node)
        test = block.owner.test if isinstance(block.owner, ast.If) else None
        if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], (ast.In, ast.NotIn)) or self.name is None:
            return None
        is_own = isinstance(test.left, ast.Constant) and test.left.value == self.name
        return isinstance(test.ops[0], ast.In) is (block.branch == "body") if is_own else None

    @property
    def whole_loop(self) -> ast.For | None:
        """The loop that does this for each key of the dict: `for key in options: options[key] = "cpu"`."""
        loop = block_of(self.node).owner
        if self.method or not isinstance(loop, ast.For) or not isinstance(self.node, ast.Assign):
            return None
        first = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) else loop.target
        changed = next(t.value for t in self.node.targets if isinstance(t, ast.Subscript))
        is_key = isinstance(first, ast.Name) and isinstance(self.key, ast.Name) and first.id == self.key.id
        return loop if is_key and dotted(_viewed(loop.iter)) == dotted(changed) else None


def _viewed(node: ast.expr) -> ast.expr:
    """The dict in `list(options)`, `options.items()`."""
    while isinstance(node, ast.Call):
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in _VIEWS:
            node = function.value
        elif isinstance(function, ast.Name) and function.id in _VIEWS and len(node.args) == 1:
            node = node.args[0]
        else:
            break
    return node


def changes(scope: Scope, text: str) -> list[Change]:
    """What a scope does with the dict that it knows by a name or attribute, in the order of the lines."""
    stored = (t for t in scope.index().subscripts if isinstance(t.ctx, ast.Store) and dotted(t.value) == text)
    found = [_stored(target) for target in stored]
    calls = chain.from_iterable(map(scope.calls_of, _MUTATING))
    methods = ((call.func, call) for call in calls if isinstance(call.func, ast.Attribute))
    found += [Change(call, func.attr, *call.args[:2]) for func, call in methods if dotted(func.value) == text]
    deleted = (node for node in scope.deletes if isinstance(node, ast.Subscript) and dotted(node.value) == text)
    found += [Change(node, "pop", node.slice) for node in deleted]
    return sorted(found, key=lambda change: change.line)


def _stored(target: ast.Subscript) -> Change:
    statement = parent(target)
    value = statement.value if isinstance(statement, ast.Assign) else None
    return Change(statement or target, "", target.slice, value)


def later_changes(
    ev: Evaluator, made: Collection, node: ast.expr, frame: Frame
) -> Iterator[tuple[Change, Scope, bool | None]]:
    """What changes a dict that is passed on at `node`, outside of the function that does so: each change with its
    scope, and whether it always happens; None where it cannot be seen when it does."""
    here, names = scope_of(node), list(_named(made))
    attributes = list(_attributes(ev, made, node, frame))
    kept = [found for attribute in attributes for found in attribute.homes()]
    for home, text, since in dict.fromkeys([*names, *kept]):
        if home is not here:
            yield from ((change, home, always) for change, always in _after(home, text, since))
    elsewhere = [*_by_name(ev, names), *(found for a in attributes for found in a.elsewhere(ev))]
    yield from ((change, scope, None) for change, scope in elsewhere if scope is not here)


_Home = tuple[Scope, str, ast.AST]
"""A scope, what it calls the dict, and the statement that gives the dict this name."""


def _targets(made: Collection) -> tuple[ast.AST | None, list[ast.expr]]:
    """The statement that makes a dict, and what it stores it under."""
    statement = parent(made.node)
    if isinstance(statement, ast.Assign):
        return statement, statement.targets
    return statement, [statement.target] if isinstance(statement, ast.AnnAssign) else []


def _named(made: Collection) -> Iterator[_Home]:
    """The names that a dict is given where it is made."""
    statement, targets = _targets(made)
    if statement is not None:
        yield from ((scope_of(statement), t.id, statement) for t in targets if isinstance(t, ast.Name))


@dataclass(frozen=True, slots=True)
class _Attribute:
    """The attribute by which an object of some classes has the dict."""

    name: str
    owners: tuple[ClassScope, ...]

    def homes(self) -> list[_Home]:
        """Where it is stored, if there is one place for that."""
        stored = [found for owner in self.owners for found in owner.writes_of(self.name) if not found[0].element]
        return [(scope, dotted(write.target), write.node) for write, scope in stored] if len(stored) == 1 else []

    def elsewhere(self, ev: Evaluator) -> Iterator[tuple[Change, Scope]]:
        """The changes by other methods, and by others than these classes."""
        homes = [scope for scope, _, _ in self.homes()]
        for method in (method for owner in self.owners for method in owner.methods.values()):
            if method not in homes and method.receiver_name is not None:
                yield from ((change, method) for change in changes(method, f"{method.receiver_name}.{self.name}"))
        yield from _from_outside(ev, self.name, self.owners)


def _attributes(ev: Evaluator, made: Collection, node: ast.expr, frame: Frame) -> Iterator[_Attribute]:
    """The attribute that is passed on, and those that the dict is stored under where it is made."""
    if isinstance(node, ast.Attribute):
        holders = [value.cls for value in ev.values(node.value, frame) if isinstance(value, Instance)]
        yield _Attribute(node.attr, tuple(cls for holder in holders for cls in classes.project_mro(ev, holder)))
    for target in _targets(made)[1]:
        owner = classes.owner_of(scope_of(target)) if isinstance(target, ast.Attribute) else None
        if owner is not None and isinstance(target, ast.Attribute) and not _is_same(target, node):
            yield _Attribute(target.attr, (owner,))


def _is_same(target: ast.Attribute, node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == target.attr


def _after(scope: Scope, text: str, since: ast.AST) -> Iterator[tuple[Change, bool]]:
    """The changes behind a statement that stores the dict, up to the next one that stores another."""
    line, home = getattr(since, "lineno", 0), block_of(since)
    others = [binding.node for binding in scope.index().bindings.get(text, ())]
    others += [write.node for write in scope.writes if not write.element and dotted(write.target) == text]
    end = min((getattr(other, "lineno", 0) for other in others if getattr(other, "lineno", 0) > line), default=None)
    for change in changes(scope, text):
        if line < change.line and (end is None or change.line < end) and not change.block.excludes(home):
            yield change, change.block.holds(home)


def _by_name(ev: Evaluator, names: list[_Home]) -> Iterator[tuple[Change, Scope]]:
    """The changes of a dict of a module by its functions and by other modules."""
    for home, name, _ in names:
        if not isinstance(home, ModuleScope):
            continue
        for module in ev.program.modules_with(name):
            scopes = module.scopes_with(name)
            yield from ((c, s) for s in scopes if s is not home and is_of_module(s, name) for c in changes(s, name))
        yield from _from_outside(ev, name, ())


def _from_outside(ev: Evaluator, name: str, owners: tuple[ClassScope, ...]) -> Iterator[tuple[Change, Scope]]:
    """`dataset.options["device"] = "cpu"`, `settings.OPTIONS.update(...)`, and the same by a class that derives."""
    modules = [m for text in (f".{name}[", f".{name}.update(") for m in ev.program.modules_with(text)]
    for module in dict.fromkeys(modules):
        for write, scope in module.writes_of(name):
            if write.element and (not classes.is_own(write, scope) or _derives(ev, scope, owners)):
                yield Change(write.node, ""), scope


def _derives(ev: Evaluator, scope: Scope, owners: tuple[ClassScope, ...]) -> bool:
    own = classes.owner_of(scope)
    return own is not None and own not in owners and any(base in owners for base in classes.project_mro(ev, own))
