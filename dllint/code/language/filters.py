"""What a filter asks of the elements of its source, in words that do not depend on the names that it uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from dllint.code.language.links import parent
from dllint.code.language.scopes import dotted, last_name
from dllint.records import dataclass

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_EACH = "each"
"""What stands for an element of the source."""


@dataclass(frozen=True, slots=True)
class Filter:
    """The elements of a source that meet all of some conditions."""

    source: str
    asked: frozenset[str]

    def implies(self, other: Filter) -> bool:
        """Whether all that passes this filter passes the other one."""
        return self.source == other.source and self.asked >= other.asked


def read(node: ast.AST, aliases: Mapping[str, str]) -> Filter | None:
    """The filter that a comprehension or a call of `filter` is; of `any(... for x in xs)`, what makes that true.

    `aliases` are other spellings of the names around it: `names` for what is stored as `self.names`.
    """
    if isinstance(node, ast.Call):
        return _of_call(node, aliases)
    if not isinstance(node, COMPREHENSIONS) or len(node.generators) != 1:
        return None
    first = node.generators[0]
    words = {**aliases, **_positions(first.target)}
    tests = [*first.ifs, *([node.elt] if isinstance(node, ast.GeneratorExp) and _decides_any(node) else [])]
    return Filter(_text(first.iter, aliases), frozenset(_text(part, words) for test in tests for part in _joined(test)))


def of_equal(container: ast.expr, item: ast.expr, aliases: Mapping[str, str]) -> Filter:
    """The filter that something passes where `item in container`: `r.name == item` of `[r.name for r in rows]`."""
    one: ast.expr | None = None
    source, words = container, dict(aliases)
    if isinstance(container, (ast.ListComp, ast.SetComp, ast.GeneratorExp)) and len(container.generators) == 1:
        one, source = container.elt, container.generators[0].iter
        words |= _positions(container.generators[0].target)
    sides = _EACH if one is None else _text(one, words), _text(item, aliases)
    return Filter(_text(source, aliases), frozenset({_equality(*sides)}))


def _of_call(node: ast.Call, aliases: Mapping[str, str]) -> Filter | None:
    if last_name(node) != "filter" or len(node.args) != 2:
        return None
    function, source = node.args
    if isinstance(function, ast.Lambda) and function.args.args:
        words = {**aliases, function.args.args[0].arg: _EACH}
        asked = [_text(part, words) for part in _joined(function.body)]
    elif isinstance(function, ast.Constant):
        asked = [_EACH]
    else:
        asked = [f"Call({_text(function, aliases)},{_EACH})"]
    return Filter(_text(source, aliases), frozenset(asked))


def _decides_any(node: ast.GeneratorExp) -> bool:
    around = parent(node)
    return isinstance(around, ast.Call) and last_name(around) == "any"


def _positions(target: ast.expr) -> dict[str, str]:
    """The names of a comprehension, by where in an element they stand."""
    if isinstance(target, ast.Tuple):
        pairs = enumerate(target.elts)
        return {name: f"{_EACH}{k}{word}" for k, part in pairs for name, word in _positions(part).items()}
    return {target.id: _EACH} if isinstance(target, ast.Name) else {}


def _joined(test: ast.expr) -> Iterator[ast.expr]:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for part in test.values:
            yield from _joined(part)
    else:
        yield test


def _equality(left: str, right: str) -> str:
    return "Eq(" + ",".join(sorted((left, right))) + ")"


def _text(node: object, words: Mapping[str, str]) -> str:
    """An expression as text, with other words for some names."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        named = dotted(node)
        if named in words or isinstance(node, ast.Name):
            return words.get(named, named)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
        return _equality(_text(node.left, words), _text(node.comparators[0], words))
    if isinstance(node, ast.AST):
        parts = (_text(getattr(node, name, None), words) for name in node._fields if name != "ctx")
        return f"{type(node).__name__}({','.join(part for part in parts if part)})"
    if isinstance(node, list):
        return ",".join(_text(part, words) for part in node)
    return "" if node is None else repr(node)
