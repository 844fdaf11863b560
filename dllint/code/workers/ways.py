"""What the way that leads to a step of worker code passes along, and what it therefore never reaches."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code.language import conditions, folding
from dllint.code.language.callables import callable_method
from dllint.code.language.values import ClassRef, Frame, Function, Instance, Value
from dllint.code.workers.reach import Step

if TYPE_CHECKING:
    from dllint.code.program import Program


def called_frame(program: Program, step: Step, made: Instance | None = None) -> Frame:
    """The activation of a step by the way that leads to it: its parameters are what that way passes.

    With `made`, of methods of the dataset that is made there.
    """
    above, call = step.parent, step.call
    receiver = _as_made(step.frame.receiver, made)
    alone = Frame(step.scope, receiver, step.frame.call, step.frame.caller, step.frame.outer)
    if above is None or not isinstance(call, ast.Call):
        return alone
    caller = called_frame(program, above, made)
    if not any(_is_run_by(program, value, step) for value in program.evaluator.values(call.func, caller)):
        return alone  # it was handed over, and something else calls it
    return Frame(step.scope, receiver, call, caller, step.frame.outer)


def _as_made(receiver: Instance | ClassRef | None, made: Instance | None) -> Instance | ClassRef | None:
    """The object of a method: `made`, where all that is known of it is this class."""
    if made is None or not isinstance(receiver, Instance) or receiver.node is not None:
        return receiver
    return made if receiver.cls is made.cls else receiver


def is_off_the_way(program: Program, step: Step, node: ast.AST) -> bool:
    """Whether what the way passes keeps it from `node`: `if device is not None:`, where no caller gives a device."""
    for at, place in step.hops(node):
        alone = conditions.each_alone(conditions.leading_to(place))
        tests = [(test, outcome) for test, outcome in alone if _asks_for_parameters(at, test)]
        frame = called_frame(program, at) if tests else at.frame
        if any(folding.verdict(program.evaluator, test, frame) is (not outcome) for test, outcome in tests):
            return True
        if _is_passed_by_others(program, at):
            return True
    return False


def _is_passed_by_others(program: Program, step: Step) -> bool:
    """Whether a function is entered by calling a parameter to which the way passes another function."""
    above, call = step.parent, step.call
    if above is None or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return False
    if all(parameter.arg != call.func.id for parameter in above.scope.parameters):
        return False
    passed = program.evaluator.values(call.func, called_frame(program, above))
    known = bool(passed) and all(isinstance(value, Function) for value in passed)
    return known and not any(_is_run_by(program, value, step) for value in passed)


def _asks_for_parameters(step: Step, test: ast.expr) -> bool:
    """Whether a condition speaks of parameters, and of no attribute, which may have changed meanwhile."""
    parts = list(ast.walk(test))
    named = {part.id for part in parts if isinstance(part, ast.Name)}
    own = not named.isdisjoint(parameter.arg for parameter in step.scope.parameters)
    return own and not any(isinstance(part, ast.Attribute) for part in parts)


def _is_run_by(program: Program, value: Value, step: Step) -> bool:
    """Whether calling a value runs the function that a step is."""
    if isinstance(value, Function):
        return value.scope is step.scope
    if isinstance(value, Instance):
        return callable_method(program, value) is step.scope
    return isinstance(value, ClassRef) and step.scope.name == "__init__"
