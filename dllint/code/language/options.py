"""Command-line options: what a program runs with when it is started plainly."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language.bindings import AttributeWrite
from dllint.code.language.given_words import of_words
from dllint.code.language.modules import Module
from dllint.code.language.option_changes import after_changes, is_changed
from dllint.code.language.scopes import Scope
from dllint.code.language.values import (
    UNKNOWN,
    Const,
    Derived,
    External,
    Frame,
    Product,
    Unknown,
    Value,
    Values,
    merge,
)

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator


_FLAGS = "absl.flags.FLAGS"
_DEFINES = ("DEFINE_integer", "DEFINE_bool", "DEFINE_boolean", "DEFINE_float", "DEFINE_string", "DEFINE_enum")


def argparse_option(ev: Evaluator, namespace: Derived, name: str, use: ast.AST, around: Frame | None = None) -> Values:
    """What an option is at `use`, in the frame `around`, when the program is started plainly: its default, or what
    takes the place of that."""
    found = _options(ev, namespace.frame.scope, name)
    if not found:
        return (Unknown(name),)
    declared = [call for call, _ in _calls(ev, namespace.frame.scope.module).get(name, ())]
    given = of_words(namespace, declared, name)
    return after_changes(ev, namespace, name, merge(found) if given is None else given, use, around)


def option_of_module(ev: Evaluator, module: Module, name: str) -> Values:
    """The default of an option that a module declares itself, for the classes in it."""
    found = list(_declared(ev, module, name))
    return merge(found) if found and not is_changed(ev, module, name) else (Unknown(name),)


def of_library(ev: Evaluator, holder: External, name: str) -> Values:
    """What a library's module or object has by a name; of the flags of absl the default that one is defined with."""
    if holder.name != _FLAGS or not name.islower():
        return (External(apis.canonical(f"{holder.name}.{name}")),)
    defined = [values for module in ev.program.modules_with("flags") for values in _defined(ev, module, name)]
    is_one = len({v.key for values in defined for v in values}) == 1
    return merge(defined) if is_one and not any(_sets(ev, name)) else (Unknown(name),)


def flag(ev: Evaluator, holder: Product) -> Values:
    """What `.value` of a flag is that `flags.DEFINE_integer("workers", 4, ...)` gives: its default."""
    return _default_of_flag(ev, holder.node, holder.frame)


def _sets(ev: Evaluator, name: str) -> Iterator[AttributeWrite]:
    return (write for module in ev.program.modules_with(f".{name} =") for write, _ in module.writes_of(name))


def _defined(ev: Evaluator, module: Module, name: str) -> Iterator[Values]:
    for function in _DEFINES:
        for call, scope in module.calls_of(function):
            first = call.args[0] if call.args else None
            if isinstance(first, ast.Constant) and first.value == name:
                yield _default_of_flag(ev, call, Frame(scope))


def _default_of_flag(ev: Evaluator, call: ast.Call, frame: Frame) -> Values:
    given = [*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "default")]
    found = ev.infer(given[0], frame) if given else (UNKNOWN,)
    is_left_open = any(isinstance(value, Const) and value.value is None for value in found)
    return (UNKNOWN,) if is_left_open else found


def _options(ev: Evaluator, scope: Scope, name: str) -> list[Values]:
    own = list(_declared(ev, scope.module, name))
    if own:
        return own
    elsewhere = [values for module in _declaring(ev, name) for values in _declared(ev, module, name)]
    return elsewhere if len({v.key for values in elsewhere for v in values}) == 1 else []


def _declaring(ev: Evaluator, name: str) -> list[Module]:
    """The modules that declare an option of this name; all options of a project are found at once."""
    if not ev.option_modules:
        for module in ev.program.modules_with("add_argument"):
            defaults = {k.arg for call, _ in module.calls_of("set_defaults") for k in call.keywords}
            for declared in {*_calls(ev, module), *defaults}:
                ev.option_modules.setdefault(declared or "", []).append(module)
    return ev.option_modules.get(name, [])


def _calls(ev: Evaluator, module: Module) -> dict[str, list[tuple[ast.Call, Scope]]]:
    """The calls of `add_argument` in a module, by the names of the options that they declare."""
    if module not in ev.option_calls:
        found = ev.option_calls[module] = {}
        for call, scope in module.calls_of("add_argument"):
            for name in set(option_names(call)):
                found.setdefault(name, []).append((call, scope))
    return ev.option_calls[module]


def _declared(ev: Evaluator, module: Module, name: str) -> list[Values]:
    for call, scope in module.calls_of("set_defaults"):
        for keyword in call.keywords:
            if keyword.arg == name:
                return [ev.infer(keyword.value, Frame(scope))]
    found = []
    for call, scope in _calls(ev, module).get(name, ()):
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        if "default" in given:
            found.append(_converted(ev, given, Frame(scope)))
        elif _action(given) in ("store_true", "store_false"):
            found.append((Const(_action(given) == "store_false", call, scope),))
        elif "required" in given or _is_positional(call):
            found.append((Unknown(name),))
        else:
            found.append((Const(None, call, scope), Unknown(name, overrides=True)))
    return found


def _converted(ev: Evaluator, given: dict[str | None, ast.expr], frame: Frame) -> Values:
    """The default of an option: a text goes through `type=`, as a text on the command line does."""
    found = ev.infer(given["default"], frame)
    if "type" not in given or not any(isinstance(v, Const) and isinstance(v.value, str) for v in found):
        return found
    kind = {"int": int, "float": float, "str": str}.get(getattr(given["type"], "id", ""))
    return merge((_read_as(kind, value),) for value in found)


def _read_as(kind: Callable[[str], object] | None, value: Value) -> Value:
    if not isinstance(value, Const) or not isinstance(value.value, str):
        return value
    try:
        return UNKNOWN if kind is None else Const(kind(value.value), value.node, value.scope)
    except ValueError:
        return UNKNOWN


def _is_positional(call: ast.Call) -> bool:
    first = call.args[0] if call.args else None
    return isinstance(first, ast.Constant) and not str(first.value).startswith("-")


def _action(given: dict[str | None, ast.expr]) -> str:
    action = given.get("action")
    return str(action.value) if isinstance(action, ast.Constant) else ""


def option_names(call: ast.Call) -> list[str]:
    """The attribute names that an `add_argument` call fills."""
    for keyword in call.keywords:
        if keyword.arg == "dest" and isinstance(keyword.value, ast.Constant):
            return [str(keyword.value.value)]
    texts = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    long = [t for t in texts if t.startswith("--")] or texts
    return [t.lstrip("-").replace("-", "_") for t in long[:1]]
