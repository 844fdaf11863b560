"""Attributes of any object that are stored by a text: `setattr(args, name, value)`, `vars(args)["workers"] = 4`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dllint.code.language.links import scope_of
from dllint.code.language.modules import Module
from dllint.code.language.reaching import reaching
from dllint.code.language.scopes import Scope, dotted
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator

_WORDS = ("setattr", "vars", "__dict__")
_STORING = ("update", "setdefault", "__setitem__")


@dataclass(frozen=True, slots=True)
class ByText:
    """One statement or call that does so."""

    node: ast.AST
    scope: Scope
    holder: ast.expr
    """The object."""
    names: frozenset[str] | None
    """What may be stored under; None where that is not spelled out."""

    def may_store(self, name: str) -> bool:
        """Whether it may store the attribute `name`."""
        return self.names is None or name in self.names


def stored_by_text(ev: Evaluator) -> list[ByText]:
    """All of these in a program, but for `setattr` with a constant name: that is an attribute write like others."""
    known = ev.program.stored_by_text_memo
    if known is None:
        modules = dict.fromkeys(module for word in _WORDS for module in ev.program.modules_with(word))
        known = ev.program.stored_by_text_memo = [found for module in modules for found in _of_module(module)]
    return known


def _of_module(module: Module) -> Iterator[ByText]:
    for call, scope in module.calls_of("setattr"):
        if len(call.args) == 3 and not isinstance(call.args[1], ast.Constant):
            yield ByText(call, scope, call.args[0], None)
    if not module.has(b"vars") and not module.has(b"__dict__"):
        return
    for method in _STORING:
        for call, scope in module.calls_of(method):
            holder = _object_of(call.func.value) if isinstance(call.func, ast.Attribute) else None
            if holder is not None:
                yield ByText(call, scope, holder, _given(call, method))
    for scope in dict.fromkeys([*module.scopes_with("vars"), *module.scopes_with("__dict__")]):
        for target in scope.index().subscripts:
            holder = _object_of(target.value) if isinstance(target.ctx, ast.Store) else None
            if holder is not None:
                yield ByText(target, scope, holder, _constants([target.slice]))


def _object_of(node: ast.expr) -> ast.expr | None:
    """`args`, of `vars(args)`, of `args.__dict__`, and of a name that is given one of these."""
    if isinstance(node, ast.Name):
        bindings = scope_of(node).index().bindings.get(node.id, ())
        found = reaching(list(bindings), node) if bindings else []
        value = found[0].value if len(found) == 1 and found[0].kind == "assign" else None
        return _object_of(value) if isinstance(value, (ast.Call, ast.Attribute)) else None
    if isinstance(node, ast.Attribute):
        return node.value if node.attr == "__dict__" else None
    is_vars = isinstance(node, ast.Call) and dotted(node.func) == "vars" and len(node.args) == 1
    return node.args[0] if is_vars and isinstance(node, ast.Call) else None


def _given(call: ast.Call, method: str) -> frozenset[str] | None:
    """The names that a call of a method of a dict stores under."""
    if method != "update":
        return _constants(call.args[:1])
    keys: list[ast.expr | None] = []
    for part in [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg is None)]:
        keys += part.keys if isinstance(part, ast.Dict) else [None]
    found = _constants(keys)
    return None if found is None else found.union(keyword.arg for keyword in call.keywords if keyword.arg)


def _constants(keys: Sequence[ast.expr | None]) -> frozenset[str] | None:
    """The texts among keys, if all of them are texts."""
    found = [key.value for key in keys if isinstance(key, ast.Constant)]
    return frozenset(map(str, found)) if len(found) == len(keys) else None
