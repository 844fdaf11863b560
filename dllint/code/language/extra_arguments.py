"""What `*args` and `**options` of a function hold in one call of it: what the call passes beyond its parameters."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code.language.links import block_of, scope_of, set_block, set_parent, set_scope
from dllint.code.language.scopes import FunctionScope, dotted
from dllint.code.language.values import Collection, Frame

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator

_DEEPEST = 3
"""Functions that pass on what they are called with, one to the next."""
_MOST_ACTIVATIONS = 24


def named(scope: FunctionScope, call: ast.Call, caller: Frame, frame: Frame, name: str) -> Collection:
    """The dict that `**name` is in an activation by this call."""
    own = {argument.arg for argument in scope.parameters}
    passed = [keyword for keyword in call.keywords if keyword.arg not in own]
    keys = tuple(keyword.arg for keyword in passed)
    made = _as_assigned(scope, frame, name, ast.Dict(keys=[], values=[]))
    return Collection("dict", made, caller, tuple(keyword.value for keyword in passed), keys)


def positional(scope: FunctionScope, call: ast.Call, caller: Frame, frame: Frame, name: str) -> Collection | None:
    """The tuple that `*name` is in an activation by this call; None where it is not seen how much that passes."""
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    own = len(own_places(scope, call))
    made = _as_assigned(scope, frame, name, ast.Tuple(elts=[], ctx=ast.Load()))
    return Collection("tuple", made, caller, tuple(call.args[own:]))


def own_places(scope: FunctionScope, call: ast.Call) -> list[str]:
    """The parameters that the positional arguments of a call are for, in their order."""
    names = [argument.arg for argument in (*scope.node.args.posonlyargs, *scope.node.args.args)]
    return names[1:] if scope.receiver_name is not None and not _passes_receiver(call) else names


def _passes_receiver(call: ast.Call) -> bool:
    """`Base.__init__(self, ...)`, unlike `super().__init__(...)` and `self.__init__(...)`."""
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr != "__init__" or isinstance(function.value, ast.Call):
        return False
    around = scope_of(function)
    return not isinstance(around, FunctionScope) or dotted(function.value) != around.receiver_name


def activations(ev: Evaluator, call: ast.Call, caller: Frame, depth: int = 0) -> list[Frame]:
    """The frames that a call is made in: where it passes on `*args` or `**options` of its function, one for each call
    that this is entered by, as `super().__init__(**options)` gives what the subclass is made with; none where it is not
    seen to be entered."""
    scope = caller.scope
    if not is_passed_on(call, caller) or depth == _DEEPEST or not isinstance(scope, FunctionScope):
        return [caller]
    found = [
        Frame(scope, caller.receiver, entering, outer, caller.outer)
        for entering, around in ev.program.call_sites(scope)
        for outer in activations(ev, entering, around, depth + 1)
    ]
    return found if len(found) <= _MOST_ACTIVATIONS else [caller]


def is_passed_on(call: ast.Call, caller: Frame) -> bool:
    """Whether a call passes on what its function is entered with beyond the parameters, and that is not known."""
    scope = caller.scope
    if caller.call is not None or not isinstance(scope, FunctionScope):
        return False
    extras = {extra.arg for extra in (scope.node.args.vararg, scope.node.args.kwarg) if extra is not None}
    splats = [argument.value for argument in call.args if isinstance(argument, ast.Starred)]
    splats += [keyword.value for keyword in call.keywords if keyword.arg is None]
    return any(isinstance(splat, ast.Name) and splat.id in extras for splat in splats)


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
