"""Code that the source itself keeps from running: under `if False:`, after `DEBUG = 0`, behind a flag of `__init__`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeGuard

from dllint.code.language import classes, conditions
from dllint.code.language.bindings import AttributeWrite
from dllint.code.language.folding import verdict
from dllint.code.language.links import parent, scope_of
from dllint.code.language.scopes import FunctionScope, Scope
from dllint.code.language.values import Const, Frame, Instance, Value

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator


def is_never_reached(ev: Evaluator, node: ast.AST, frame: Frame) -> bool:
    """Whether a test on the way to a node asks what is written down in the source, and comes out otherwise."""
    leading = conditions.leading_to(node)
    if not leading:
        return False
    known = ev.settling.get(id(leading))  # what stands in one block shares the list
    if known is None:
        asking = [each for each in leading if _asks_for_constants(each[0])]
        known = ev.settling[id(leading)] = (leading, tuple(conditions.each_alone(asking)))
    return any(_outcome(ev, test, frame) is (not outcome) for test, outcome in known[1])


def _asks_for_constants(test: ast.expr) -> bool:
    """Whether a test asks, by its looks, for anything that may be written down."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _asks_for_constants(test.operand)
    if isinstance(test, ast.BoolOp):
        return any(map(_asks_for_constants, test.values))
    if isinstance(test, ast.Name):
        behind = conditions.flagged(test)
        return _may_be_spelled_out(test) or (behind is not None and _asks_for_constants(behind))
    is_flag = isinstance(test, ast.Attribute) and isinstance(test.value, ast.Name)
    return is_flag or isinstance(test, ast.Constant)


def _outcome(ev: Evaluator, test: ast.expr, frame: Frame) -> bool | None:
    """How a test of constants, and of names that are only ever one, comes out: options are set from outside."""
    bare, is_plain = conditions.without_not(test, True)
    if bare is not test:
        inner = _outcome(ev, bare, frame)
        return None if inner is None else inner is is_plain
    if isinstance(test, ast.BoolOp):
        found = [_outcome(ev, part, frame) for part in test.values]
        decisive = isinstance(test.op, ast.Or)
        return decisive if decisive in found else None if None in found else not decisive
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.Name):
        return _of_name(ev, test, frame)
    return _of_flag(ev, test, frame) if isinstance(test, ast.Attribute) else None


def _of_name(ev: Evaluator, name: ast.Name, frame: Frame) -> bool | None:
    if not _may_be_spelled_out(name):
        return None
    values = ev.values(name, frame)
    found = [value for value in values if _is_spelled_out(value)]
    if len(found) < len(values) or _is_set_through_module(ev, name.id):
        return None
    return None if any(_is_declared_global(value, name.id) for value in found) else verdict(ev, name, frame)


def _may_be_spelled_out(name: ast.Name) -> bool:
    """Whether all that the nearest scope binds to a name is spelled out there, or comes from elsewhere: asked of every
    test, and so by looks alone."""
    binder = scope_of(name).binder_of(name.id)
    bound = binder.index().bindings[name.id] if binder is not None else ()
    return all(one.kind in ("import", "global") or isinstance(one.value, ast.Constant) for one in bound)


def _is_declared_global(value: Const, name: str) -> bool:
    """Whether a function may set the variable around it: `global DEBUG`."""
    if value.scope is None:
        return False
    module = value.scope.module
    scopes = module.scopes_around(module.lines_with(name))
    return any(binding.kind == "global" for scope in scopes for binding in scope.index().bindings.get(name, ()))


def _is_spelled_out(value: Value) -> TypeGuard[Const]:
    """Whether an assignment to a name has the value: not an option's default, or the field of a config."""
    return isinstance(value, Const) and isinstance(value.node, ast.Constant) and _is_of_name(parent(value.node))


def _is_of_name(around: ast.AST | None) -> bool:
    targets = around.targets if isinstance(around, ast.Assign) else []
    targets = [around.target] if isinstance(around, ast.AnnAssign) else targets
    plain = all(isinstance(target, ast.Name) for target in targets)
    return around is not None and bool(targets) and plain and not isinstance(parent(around), ast.ClassDef)


def _is_set_through_module(ev: Evaluator, name: str) -> bool:
    """Whether `settings.DEBUG = True` may set a name of the module from elsewhere."""
    return any(not classes.is_own(write, scope) for write, scope in _writes(ev, name))


def _of_flag(ev: Evaluator, flag: ast.Attribute, frame: Frame) -> bool | None:
    """How `self.flag` comes out, if all that the class ever stores there is a flag that is spelled out."""
    scope, receiver = frame.scope, frame.receiver
    own = isinstance(scope, FunctionScope) and isinstance(flag.value, ast.Name) and flag.value.id == scope.receiver_name
    if not own or not isinstance(receiver, Instance):
        return None
    family = list(classes.project_mro(ev, receiver.cls))
    stored = [write for base in family for write, _ in base.writes_of(flag.attr)]
    found = {write.binding.value.value for write in stored if isinstance(write.binding.value, ast.Constant)}
    if not stored or found not in ({True}, {False}) or not all(_is_flag(write) for write in stored):
        return None
    return None if any(map(classes.sets_by_text, family)) or _is_set_elsewhere(ev, flag.attr) else found.pop() is True


def _is_flag(write: AttributeWrite) -> bool:
    value = write.binding.value
    return not write.element and isinstance(value, ast.Constant) and isinstance(value.value, bool)


def _is_set_elsewhere(ev: Evaluator, name: str) -> bool:
    """Whether any code sets an attribute of this name on another object than its own: `dataset.augment = True`."""
    return any(not classes.is_own(write, scope) for write, scope in _writes(ev, name)) or bool(
        ev.program.modules_with("setattr", name)
    )


def _writes(ev: Evaluator, name: str) -> list[tuple[AttributeWrite, Scope]]:
    return [found for module in ev.program.modules_with(f".{name} =") for found in module.writes_of(name)]
