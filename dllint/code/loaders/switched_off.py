"""Workers that a flag of the command line switches off: `num_workers=0 if args.debug else 8`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dllint.code.language import conditions
from dllint.code.language.links import parent
from dllint.code.language.scopes import Scope, dotted, last_name
from dllint.code.language.values import Const, Value
from dllint.code.loaders.loader import Loader

_DECLARES = frozenset({"add_argument", "option"})


def flag_with(loader: Loader, name: str) -> str | None:
    """The flag, as the source has it, with which a loader has no workers and is passed an argument that needs some."""
    if not loader.has_workers or loader.option(name).absent is not False:
        return None
    return next((flag for flag in dict.fromkeys(_flags(loader)) if _is_refused(loader, name, flag)), None)


def _is_refused(loader: Loader, name: str, flag: str) -> bool:
    """Whether with a flag there are no workers, the loader is still built, and the argument is passed and counts."""
    ev = loader.program.evaluator
    ev.assumed.append((flag, Const(True, loader.call)))
    try:
        if not loader.has_no_workers or conditions.is_unreachable(ev, loader.call, loader.frame):
            return False
        option = loader.option(name)
        return option.is_surely_given() and all(isinstance(v, Const) and v.value for v in option.defaults)
    finally:
        ev.assumed.pop()


def _flags(loader: Loader) -> Iterator[str]:
    """The flags, off by default, that decide how many workers there are."""
    argument = loader.workers.argument
    if argument is None:
        return
    for test in _tests(argument.node, argument.frame.scope):
        for part in ast.walk(test):
            text = dotted(part) if isinstance(part, (ast.Name, ast.Attribute)) else ""
            found = loader.program.evaluator.values(part, argument.frame) if text else ()
            if found and all(map(_is_flag, found)):
                yield text


def _tests(node: ast.expr, scope: Scope) -> Iterator[ast.expr]:
    """The tests that decide what an expression is: its own, and those around what it gets its value by."""
    if isinstance(node, ast.IfExp):
        yield node.test
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return
    written = [write.binding for write in scope.index().writes if dotted(write.target) == dotted(node)]
    for binding in [*scope.index().bindings.get(dotted(node), ()), *written]:
        if isinstance(binding.value, ast.IfExp):
            yield binding.value.test
        if isinstance(binding.block.owner, ast.If):
            yield binding.block.owner.test


def _is_flag(value: Value) -> bool:
    """Whether a value is the default of an option that is off unless somebody asks for it."""
    if not isinstance(value, Const) or value.value not in (False, 0):
        return False
    keyword = parent(value.node)
    call = parent(keyword) if isinstance(keyword, ast.keyword) else value.node
    return isinstance(call, ast.Call) and last_name(call.func) in _DECLARES
