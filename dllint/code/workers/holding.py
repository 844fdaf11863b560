"""What containers, partials and objects of libraries hold."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code.language.elements import contents, elements, spread
from dllint.code.language.values import Collection, Partial, Product, Value, Values

if TYPE_CHECKING:
    from dllint.code.program import Program

_KEPT_KEYWORDS = ("transform", "lambd", "dataset", "pipeline", "augment", "preprocess", "tokenizer")
"""Parts of the names of arguments that a library's object keeps: `target_transform`. `is_valid_file` is only called."""
_KEPT_FUNCTIONS = frozenset({"loader", "masking_method", "select_fn"})
"""Such arguments in full: of image folders, and of transforms of torchio and MONAI."""
_MOST_PARTS = 60
"""Parts of a container that are looked into."""
_NAMESPACES = frozenset({"types.SimpleNamespace", "argparse.Namespace"})
_CONTAINERS = _NAMESPACES | {"collections.defaultdict", "collections.deque", "itertools.chain"}
_COPIES = frozenset({"collections.Counter", "collections.UserList", "pandas.DataFrame", "pandas.Series"})
"""What takes values over and keeps nothing that they came from."""


def held_by(program: Program, value: Value) -> Iterator[tuple[Value, bool]]:
    """The values that a container, or a library object made from some, holds; each with whether it certainly does."""
    for values in _parts(program, value):
        for inner in values:
            yield inner, len(values) == 1


def _parts(program: Program, value: Value) -> Iterator[Values]:
    ev = program.evaluator
    if isinstance(value, Collection):
        yield from contents(ev, value, _MOST_PARTS) if value.kind != "generator" else ()
    elif isinstance(value, Partial):
        yield from (ev.values(argument, value.frame) for argument in bound_by(value))
        yield from _parts(program, value.target)
    elif isinstance(value, Product) and value.name == "collections.deque":
        yield from (elements(ev, part, ev.values(part, value.frame), value.frame) for part in value.node.args[:1])
    elif isinstance(value, Product) and (value.name.rpartition(".")[2][:1].isupper() or value.name in _CONTAINERS):
        yield from _given(program, value) if value.name not in _COPIES else ()


def _given(program: Program, value: Product) -> Iterator[Values]:
    """What a library's object, or one of the standard library's containers, is given and keeps."""
    ev = program.evaluator
    kept_keywords = [k.value for k in value.node.keywords if k.arg is not None and _is_kept(value, k.arg)]
    given = [*map(_unstarred, value.node.args), *kept_keywords]
    if value.name == "collections.defaultdict":
        yield from (spread(ev, part, value.frame) for part in given[1:])
        del given[1:]
    if value.name in _NAMESPACES:
        yield from (spread(ev, k.value, value.frame) for k in value.node.keywords if k.arg is None)
    for argument in given:
        if isinstance(argument, (ast.List, ast.Tuple, ast.Name, ast.Attribute, ast.Lambda, ast.Call)):
            yield ev.values(argument, value.frame)


def _unstarred(node: ast.expr) -> ast.expr:
    """`stages` of `DataPipeline(*stages)`, which holds what the list does."""
    return node.value if isinstance(node, ast.Starred) else node


def bound_by(value: Partial) -> list[ast.expr]:
    """The arguments that a partial keeps for the function that it calls."""
    given = [*value.node.args[1:], *(keyword.value for keyword in value.node.keywords)]
    return [node for node in given if not isinstance(node, (ast.Constant, ast.Starred))]


def _is_kept(value: Product, keyword: str) -> bool:
    """Whether a library's object keeps what it is given by this keyword; `A.Lambda(image=...)` keeps all."""
    if value.name in _CONTAINERS or "lambda" in value.name.rpartition(".")[2].lower():
        return True
    return keyword in _KEPT_FUNCTIONS or any(word in keyword for word in _KEPT_KEYWORDS)
