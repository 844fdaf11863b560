"""Arrays that are mapped from files, and the views on them: pickle knows neither, and copies what they show."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language.arguments import collect
from dllint.code.language.scopes import last_name
from dllint.code.language.values import Const, Derived, Frame, Product, Value, by_default

if TYPE_CHECKING:
    from dllint.code.program import Program

_OPENED = frozenset({"builtins.open", "gzip.open", "os.fdopen", "io.BytesIO", "fsspec.open"})


def mapped_array(program: Program, value: Value) -> Product | None:
    """The call that maps a file, if a value certainly is the array that it gives, or a view on it."""
    steps = list(value.chain()) if isinstance(value, Derived) else []
    origin = value.origin if isinstance(value, Derived) else value
    if not isinstance(origin, Product) or not all(map(_is_view, steps)):
        return None
    if origin.name in apis.MEMORY_MAPS:
        return origin
    return origin if origin.name == "numpy.load" and _maps(program, origin) else None


def _maps(program: Program, load: Product) -> bool:
    """Whether `np.load` is certainly told to map: an archive of arrays it reads all the same."""
    options = collect(program.evaluator, load.node, load.frame)
    positional = options.positional[1:2]
    mode = options.named.get("mmap_mode") or (positional[0] if positional else None)
    if mode is None or _ends_with(load, ".npz") or _is_given_open_file(program, load):
        return False
    return all(isinstance(v, Const) and isinstance(v.value, str) for v in by_default(mode.values(program.evaluator)))


def _is_given_open_file(program: Program, load: Product) -> bool:
    """Whether `np.load` is given an open file, which it refuses to map: `ValueError: Filename must be a string`."""
    arguments = load.node.args[:1]
    given = (value for each in arguments for value in program.evaluator.values(each, load.frame))
    opened = (v.base if isinstance(v, Derived) and v.via == "with" else v for v in given)
    if any(isinstance(value, Product) and value.name in _OPENED for value in opened):
        return True
    return any(_is_opened(each, load.frame) for each in arguments)


def _is_opened(argument: ast.expr, frame: Frame) -> bool:
    """Whether something that nobody knows here opens a file: `path_manager.open(path)`."""
    sources: list[ast.AST | None] = [argument]
    if isinstance(argument, ast.Name):
        bindings = frame.scope.bindings.get(argument.id, ())
        sources += [binding.value for binding in bindings if binding.kind in ("with", "assign")]
    return any(isinstance(source, ast.Call) and last_name(source.func) == "open" for source in sources)


def _ends_with(load: Product, suffix: str) -> bool:
    parts = (part for argument in load.node.args[:1] for part in ast.walk(argument))
    return any(isinstance(p, ast.Constant) and isinstance(p.value, str) and p.value.endswith(suffix) for p in parts)


def _is_view(step: Derived) -> bool:
    if step.via == "[]":
        return isinstance(step.node, ast.Subscript) and isinstance(step.node.slice, ast.Slice)
    return step.via in apis.ARRAY_VIEWS
