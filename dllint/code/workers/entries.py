"""The entries of worker code: what a DataLoader worker calls of a dataset, and of what its loader is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language import classes
from dllint.code.language.scopes import ClassScope
from dllint.code.language.values import (
    Frame,
    Function,
    Instance,
    Partial,
    Values,
)

if TYPE_CHECKING:
    from dllint.code.program import Program

from dllint.code.language.callables import bound_partial, callables, called_methods, innermost
from dllint.code.workers.reach import Step

WORKER_METHODS = ("__getitem__", "__getitems__", "__iter__", "__next__", "__len__")
"""The methods of a dataset that a worker calls."""


def entries_of_class(program: Program, cls: ClassScope, label: str) -> list[Step]:
    """The methods of a dataset class that workers call."""
    found = []
    bases = classes.external_bases(program.evaluator, cls)
    hooks = [hook for base in bases for hook in apis.HOOKS.get(base, ())]
    for name in (*WORKER_METHODS, *hooks):
        method = classes.method(program.evaluator, cls, name)
        if method is not None:
            found.append(Step(method, Frame(method, Instance(cls)), label))
    return found


def entries_of_values(program: Program, values: Values, label: str) -> list[Step]:
    """The functions in a value that workers are given to call."""
    found = []
    for value in values:
        for function in callables(program, value):
            target = innermost(function)
            if isinstance(function, Partial) and isinstance(target, Function):
                found += [Step(t.scope, frame, label) for t, frame in bound_partial(function)]
            elif isinstance(target, Function):
                found.append(Step(target.scope, Frame(target.scope, target.receiver, outer=target.outer), label))
            elif isinstance(target, Instance):
                found += [Step(method, Frame(method, target), label) for method in called_methods(program, target)]
    return found
