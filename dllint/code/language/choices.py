"""What an option of the command line may be set to, where its declaration says: `choices=["train"]`, `type=float`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code.language.folding import verdict
from dllint.code.language.links import parent
from dllint.code.language.scopes import dotted, last_name
from dllint.code.language.values import Collection, Const, Frame

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator

_DECLARING = frozenset({"add_argument", "option", "Option", "field", "Field", "DEFINE_enum"})
"""What says what an option or a field is where nobody sets it."""


def declaration(node: ast.AST) -> ast.Call | None:
    """The call that declares an option, of which a node is the default."""
    call = _call_around(node)
    return call if call is not None and last_name(call.func) in _DECLARING else None


def float_option(value: Const) -> ast.Call | None:
    """The call that declares an option of `type=float`, of which a value is the default."""
    call = declaration(value.node)
    kinds = [keyword.value for keyword in call.keywords if keyword.arg == "type"] if call is not None else []
    return call if any(isinstance(kind, ast.Name) and kind.id == "float" for kind in kinds) else None


def is_argument(node: ast.AST) -> bool:
    """Whether a node is what a call is given, not what it declares."""
    call = _call_around(node)
    return call is not None and last_name(call.func) not in _DECLARING


def agree_on(ev: Evaluator, test: ast.expr, name: ast.expr, default: Const, frame: Frame) -> bool:
    """Whether a test of a name, or of an attribute, comes out the same for all choices of the option that it has
    the default of."""
    call = declaration(default.node)
    choices = _choices(ev, call, default) if call is not None else []
    outcome = verdict(ev, test, frame)
    return bool(choices) and all(_outcome(ev, test, name, choice, frame) is outcome for choice in choices)


def _outcome(ev: Evaluator, test: ast.expr, name: ast.expr, choice: Const, frame: Frame) -> bool | None:
    ev.assumed.append((dotted(name), choice))
    try:
        return verdict(ev, test, frame)
    finally:
        ev.assumed.pop()


def _choices(ev: Evaluator, call: ast.Call, default: Const) -> list[Const]:
    """All that the option takes; nothing if that is not known."""
    listed = _listed(call)
    if listed is None or default.scope is None:
        return []
    frame = Frame(default.scope)
    values = ev.values(listed, frame)
    if len(values) != 1 or not isinstance(values[0], Collection) or values[0].each is not None:
        return []
    held = values[0].keys if values[0].kind == "dict" else values[0].items
    found = [ev.values(item, values[0].frame) for item in held if isinstance(item, ast.expr)]
    known = [each[0] for each in found if len(each) == 1 and isinstance(each[0], Const)]
    return [each for each in known if isinstance(each, Const)] if len(known) == len(held) else []


def _listed(call: ast.Call) -> ast.expr | None:
    """What lists the choices: `choices=[...]`, `type=click.Choice([...])`, `DEFINE_enum(name, default, [...])`."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if last_name(call.func) == "DEFINE_enum":
        return given.get("enum_values") or (call.args[2] if len(call.args) > 2 else None)
    kind = given.get("type")
    if isinstance(kind, ast.Call) and last_name(kind.func) == "Choice" and kind.args:
        return kind.args[0]
    return given.get("choices")


def _call_around(node: ast.AST) -> ast.Call | None:
    around = parent(node)
    around = parent(around) if isinstance(around, ast.keyword) else around
    return around if isinstance(around, ast.Call) else None
