"""The hyperparameters of Lightning's classes: what `self.hparams.name` is, by what `__init__` is given."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code.language import classes, options
from dllint.code.language.parameters import parameter
from dllint.code.language.scopes import FunctionScope, dotted, last_name
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


def of_unknown(ev: Evaluator, value: Unknown, name: str, node: ast.AST, frame: Frame) -> Values:
    """An attribute of what is not known: of older Lightning's `self.hparams = args` what the options say."""
    held = node.value if isinstance(node, (ast.Attribute, ast.Subscript)) else None
    if isinstance(held, ast.Attribute) and held.attr == "hparams":
        holders = ev.infer(held.value, frame)
        if len(holders) == 1 and isinstance(holders[0], Instance):
            return hyperparameter(ev, holders[0], name)
    return (Unknown(dotted(node) or f"?.{name}", value.overrides),)


def _saved_whole(made: FunctionScope) -> ast.expr | None:
    """The namespace of options that `self.save_hyperparameters(args)` saves, beside copies of it; and what older code
    has instead, `self.hparams = args` or `self.hparams.update(vars(args))`."""
    calls = made.index().calls_of("save_hyperparameters")
    calls += [call for call in made.calls_of("update") if dotted(call.func).endswith(".hparams.update")]
    stored = [write.binding.value for write in made.writes if write.name == "hparams" and not write.element]
    given: ast.AST | None = next((call.args[0] for call in calls if call.args), stored[-1] if stored else None)
    while isinstance(given, ast.Call) and last_name(given) in _COPIES and given.args:
        given = given.args[0]
    return given if isinstance(given, (ast.Name, ast.Attribute)) else None


def _of_namespace(ev: Evaluator, saved: ast.expr, name: str, frame: Frame) -> Values:
    found = ev.infer(saved, frame)
    parsed = [value for value in found if isinstance(value, Derived) and value.via == ".parse_args()"]
    if parsed and len(parsed) == len(found):
        return merge(options.argparse_option(ev, value, name, saved) for value in parsed)
    if all(isinstance(value, Unknown) for value in found):
        return options.option_of_module(ev, frame.scope.module, name)
    return (Unknown(name),)
