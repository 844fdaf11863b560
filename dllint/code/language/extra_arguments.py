"""What `*args` and `**options` of a function hold in one call of it: what the call passes beyond its parameters."""

from __future__ import annotations

import ast

from dllint.code.language.links import block_of, set_block, set_parent, set_scope
from dllint.code.language.scopes import FunctionScope
from dllint.code.language.values import Collection, Frame


def named(scope: FunctionScope, call: ast.Call, caller: Frame, frame: Frame, name: str) -> Collection:
    """The dict that `**name` is in an activation by this call."""
    own = {argument.arg for argument in scope.parameters}
    passed = [keyword for keyword in call.keywords if keyword.arg not in own]
    keys = tuple(keyword.arg for keyword in passed)
    made = _as_assigned(scope, frame, name, ast.Dict(keys=[], values=[]))
    return Collection("dict", made, caller, tuple(keyword.value for keyword in passed), keys)


def positional(scope: FunctionScope, call: ast.Call, caller: Frame, frame: Frame, name: str) -> Collection | None:
    """The tuple that `*name` is in an activation by this call; None where it is not seen how much that passes."""
    if any(isinstance(argument, ast.Starred) for argument in call.args) or _passes_receiver(call):
        return None
    own = len(scope.node.args.posonlyargs) + len(scope.node.args.args) - (scope.receiver_name is not None)
    made = _as_assigned(scope, frame, name, ast.Tuple(elts=[], ctx=ast.Load()))
    return Collection("tuple", made, caller, tuple(call.args[own:]))


def _passes_receiver(call: ast.Call) -> bool:
    """`Base.__init__(self, ...)`, unlike `super().__init__(...)`."""
    function = call.func
    return (
        isinstance(function, ast.Attribute) and function.attr == "__init__" and not isinstance(function.value, ast.Call)
    )


def _as_assigned(scope: FunctionScope, frame: Frame, name: str, made: ast.expr) -> ast.expr:
    """The node that stands for the container: as if the function began with `name = {...}`, once for each frame."""
    known = frame.extra.get(name)
    if known is None:
        start = scope.node.args
        target = ast.Name(id=name, ctx=ast.Store())
        statement = ast.Assign(targets=[target], value=made)
        for node in (statement, target, made):
            node.lineno = node.end_lineno = scope.node.lineno
            node.col_offset = node.end_col_offset = scope.node.col_offset
            set_parent(node, statement if node is not statement else start)
            set_scope(node, scope)
        if isinstance(scope.node.body, list):
            set_block(statement, block_of(scope.node.body[0]))
        known = frame.extra[name] = made
    return known
