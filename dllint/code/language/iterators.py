"""Iterators: values that can be passed once, and whether they come to an end."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language.assured import is_assured
from dllint.code.language.links import parent, scope_of
from dllint.code.language.scopes import Scope, last_name
from dllint.code.language.values import Collection, Const, Derived, Frame, Number, Product, Value, Values

if TYPE_CHECKING:
    from dllint.code.program import Program

_DEEPEST = 5


def one_shot(value: Value) -> str:
    """What a value that can be passed only once is, for messages; an empty string for any other."""
    if isinstance(value, Collection) and value.kind == "generator":
        return f"a {last_name(value.node)}()" if isinstance(value.node, ast.Call) else "a generator"
    if isinstance(value, Product) and value.name in apis.ONE_SHOT:
        return f"{value.name.removeprefix('builtins.')}()"
    if isinstance(value, Derived) and value.via in apis.GENERATOR_METHODS:
        return "a generator"
    return ""


def creation(value: Value) -> ast.AST | None:
    """The call or expression that makes an iterator."""
    node = getattr(value, "node", None)
    if isinstance(value, Collection) and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return value.frame.call
    return node if isinstance(node, ast.AST) else None


def ends(program: Program, value: Value, depth: int = 0) -> bool | None:
    """Whether an iterator comes to an end: True, False for one that never does, None where that is not known."""
    if depth > _DEEPEST:
        return None
    if isinstance(value, Product):
        return _library_ends(program, value, depth)
    if isinstance(value, Collection):
        return _collection_ends(program, value, depth)
    if isinstance(value, (Number, Const)):
        return True
    if isinstance(value, Derived):
        return value.via in apis.GENERATOR_METHODS | {".items()", ".keys()", ".values()"} or None
    return None


def _library_ends(program: Program, value: Product, depth: int) -> bool | None:
    arguments = value.node.args
    if value.name in apis.ENDLESS:
        return value.name == "itertools.repeat" and len(arguments) + len(value.node.keywords) > 1
    if value.name not in apis.ONE_SHOT:
        return True if value.name in _FINITE else None
    if value.name == "itertools.islice" and len(arguments) > 1:
        return not (isinstance(arguments[-1], ast.Constant) and arguments[-1].value is None) or None
    if value.name == "builtins.iter" and len(arguments) == 2:
        return None  # iter(function, sentinel)
    if value.name in apis.MAY_BE_EMPTY:
        return True
    sources = arguments[1:] if value.name in apis.FIRST_IS_FUNCTION else arguments
    sources = sources if value.name in _OF_ALL else sources[:1]
    found = [_all_end(program.evaluator.values(_unstarred(s), value.frame), program, depth) for s in sources]
    if value.name == "builtins.zip":
        return True if True in found else None if None in found or not found else False
    return False if False in found else None if None in found or not found else True


_OF_ALL = frozenset({"builtins.zip", "itertools.chain", "itertools.product", "itertools.zip_longest", "builtins.map"})
"""Iterators over all of their arguments; the others take their data from the first."""

_FINITE = frozenset(
    {
        "builtins.range",
        "builtins.open",
        "gzip.open",
        "torch.randperm",
        "torch.arange",
        "numpy.arange",
        "numpy.random.permutation",
        "random.sample",
        "glob.glob",
        "os.listdir",
        "torch.utils.data.DataLoader",
        "torch.utils.data.RandomSampler",
        "torch.utils.data.SequentialSampler",
        "torch.utils.data.BatchSampler",
    }
)


def _unstarred(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Starred) else node


def _all_end(found: Values, program: Program, depth: int) -> bool | None:
    known = [ends(program, value, depth + 1) for value in found]
    return False if False in known else None if None in known or not known else True


def _collection_ends(program: Program, value: Collection, depth: int) -> bool | None:
    node, ev = value.node, program.evaluator
    if value.kind != "generator":
        return True
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return not _yields_for_ever(node)
    if isinstance(node, ast.GeneratorExp):
        return _all_end(ev.values(node.generators[0].iter, value.frame), program, depth)
    if isinstance(node, ast.Call) and len(node.args) > 1:  # map, filter
        return _all_end(ev.values(node.args[-1], value.frame), program, depth)
    return None


def _yields_for_ever(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a generator function yields within an endless loop."""
    return any(is_endless(node) for node in scope_of(function).index().yields)


def is_endless(node: ast.AST) -> bool:
    """Whether a node stands in a loop that its function never ends: `while True`, `for x in cycle(xs)`."""
    at: ast.AST | None = node
    while at is not None and not isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if isinstance(at, ast.While) and isinstance(at.test, ast.Constant):
            return True
        if isinstance(at, ast.For) and isinstance(at.iter, ast.Call) and _never_ends(at.iter):
            return True
        at = parent(at)
    return False


def _never_ends(call: ast.Call) -> bool:
    return last_name(call) in ("cycle", "count") or (last_name(call) == "repeat" and len(call.args) == 1)


def is_filtered(value: Value) -> bool:
    """Whether an iterator leaves out some of its source, so that it may be empty: `(x for x in xs if ...)`."""
    node = getattr(value, "node", None)
    if isinstance(node, (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)):
        return any(part.ifs for part in node.generators)
    return isinstance(node, ast.Call) and last_name(node) in ("filter", "filterfalse", "takewhile", "dropwhile")


def runs_out(program: Program, taken: ast.expr, passed: list[tuple[ast.AST, Frame]], inside: frozenset[Scope]) -> str:
    """Why the iterator `taken` of a `next(...)` may have no more elements, for messages; empty where that is not known.

    `passed` are the call, then those that lead to it, each with its frame. `inside` are the functions that run again
    for each sample: an iterator that one of them makes is a new one.
    """
    found = program.evaluator.values(taken, passed[0][1])
    for value in found:
        for one in _iterated(program, value):
            if is_filtered(one) and not _is_assured(program, one, passed):
                return "nothing passes the filter"
            if _is_of_files(one):
                return "there is nothing to read"
    if all(one_shot(value) and _outlives(value, inside) and ends(program, value) for value in found):
        return "the iterator, which is kept from call to call, is used up"
    return ""


def _is_assured(program: Program, value: Value, passed: list[tuple[ast.AST, Frame]]) -> bool:
    node = getattr(value, "node", None)
    return isinstance(node, ast.AST) and is_assured(program.evaluator, node, passed)


def _iterated(program: Program, value: Value) -> Values:
    """The iterator, and what `iter(...)` was made over."""
    if isinstance(value, Product) and value.name == "builtins.iter" and len(value.node.args) == 1:
        return (value, *program.evaluator.values(value.node.args[0], value.frame))
    return (value,)


def _is_of_files(value: Value) -> bool:
    if isinstance(value, Derived):
        return value.via in apis.GENERATOR_METHODS
    return isinstance(value, Product) and value.name in apis.MAY_BE_EMPTY


def _outlives(value: Value, inside: frozenset[Scope]) -> bool:
    """Whether an iterator was made once, outside of the functions that take its elements."""
    made = creation(value)
    return made is not None and scope_of(made) not in inside
