"""Files in memory, and what is opened over them: each process has its own, with a position of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language.values import Derived, Product, Value

if TYPE_CHECKING:
    import ast

    from dllint.code.language.evaluator import Evaluator

_IN_MEMORY = frozenset({"io.BytesIO", "io.StringIO", "mmap.mmap", "pyarrow.BufferReader", "pyarrow.py_buffer"})
_FILE_KEYWORDS = frozenset({"file", "file_", "fileobj", "filename", "fp", "name", "source", "store"})


def is_over_memory(ev: Evaluator, opened: Product) -> bool:
    """Whether a call opens what lies in memory: `zipfile.ZipFile(io.BytesIO(content))`."""
    return any(all(map(_is_in_memory, ev.values(argument, opened.frame))) for argument in _files(opened.node))


def _files(call: ast.Call) -> Iterator[ast.expr]:
    yield from call.args[:3]
    yield from (keyword.value for keyword in call.keywords if keyword.arg in _FILE_KEYWORDS)


def _is_in_memory(value: Value) -> bool:
    if isinstance(value, Derived) and value.via == "with":
        value = value.base
    return isinstance(value, Product) and value.name in _IN_MEMORY
