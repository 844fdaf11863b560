"""The hyperparameters of Lightning's classes: what `self.hparams.name` is, by what `__init__` is given."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code.language import classes, options
from dllint.code.language.parameters import parameter
from dllint.code.language.scopes import FunctionScope, last_name
from dllint.code.language.values import Derived, Frame, Instance, Unknown, Values, merge

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator

_COPIES = frozenset({"copy", "deepcopy", "vars", "dict", "Namespace", "AttributeDict"})


def hyperparameter(ev: Evaluator, holder: Instance, name: str) -> Values:
    """`self.hparams.name`: the argument of `__init__`, or an option of the namespace that this saves whole."""
    first = classes.method(ev, holder.cls, "__init__")
    if first is None:
        return (Unknown(name),)
    frame = classes.method_frame(ev, holder, first)
    if first.annotation(name) is not None or first.default(name) is not None:
        return parameter(ev, name, frame)
    saved = _saved_whole(first)
    return _of_namespace(ev, saved, name, frame) if saved is not None else (Unknown(name),)


def _saved_whole(made: FunctionScope) -> ast.expr | None:
    """The namespace of options that `self.save_hyperparameters(args)` saves, beside copies of it."""
    calls = made.index().calls_of("save_hyperparameters")
    given = calls[0].args[0] if calls and calls[0].args else None
    while isinstance(given, ast.Call) and last_name(given) in _COPIES and given.args:
        given = given.args[0]
    return given if isinstance(given, (ast.Name, ast.Attribute)) else None


def _of_namespace(ev: Evaluator, saved: ast.expr, name: str, frame: Frame) -> Values:
    found = ev.infer(saved, frame)
    parsed = [value for value in found if isinstance(value, Derived) and value.via == ".parse_args()"]
    if parsed and len(parsed) == len(found):
        return merge(options.argparse_option(ev, value, name) for value in parsed)
    if all(isinstance(value, Unknown) for value in found):
        return options.option_of_module(ev, frame.scope.module, name)
    return (Unknown(name),)
