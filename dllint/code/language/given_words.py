"""What a program parses instead of its command: `parser.parse_args(["--workers", "4"])`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dllint.code.language.scopes import last_name
from dllint.code.language.values import Const, Derived, Unknown, Values

_KINDS = {"int": int, "float": float, "str": str}


def of_words(namespace: Derived, declared: list[ast.Call], name: str) -> Values | None:
    """What an option is by the words and the namespace that a program hands to its parser itself; None where these say
    nothing about it."""
    call = namespace.node
    if not isinstance(call, ast.Call):
        return None
    if _may_be_filled(call, name):
        return (Unknown(name),)
    words = _argument(call, 0, "args")
    if not isinstance(words, (ast.List, ast.Tuple)):
        return None
    flags = {flag for each in declared for flag in _flags(each)}
    if any(isinstance(word, ast.Starred) for word in words.elts):
        return (Unknown(name),)
    values = list(_values_of(words.elts, flags))
    if not values:
        return None
    return (_converted(values[-1], declared, namespace) or Unknown(name),)


def _argument(call: ast.Call, place: int, name: str) -> ast.expr | None:
    return next((k.value for k in call.keywords if k.arg == name), call.args[place] if len(call.args) > place else None)


def _may_be_filled(call: ast.Call, name: str) -> bool:
    """Whether the namespace that is to be filled may have the option already: `Namespace(workers=4)`."""
    given = _argument(call, 1, "namespace")
    if not isinstance(given, ast.Call) or last_name(given) not in ("Namespace", "SimpleNamespace"):
        return False
    return any(keyword.arg in (name, None) for keyword in given.keywords)


def _flags(call: ast.Call) -> Iterator[str]:
    return (str(part.value) for part in call.args if isinstance(part, ast.Constant))


def _values_of(words: list[ast.expr], flags: set[str]) -> Iterator[str | None]:
    """What follows the flags of an option among words; None where that is not spelled out."""
    texts = [word.value if isinstance(word, ast.Constant) and isinstance(word.value, str) else None for word in words]
    for text, following in zip(texts, [*texts, None][1:], strict=True):
        flag, _, value = (text or "").partition("=")
        if flag in flags:
            yield value or following
        elif flag and any(_is_short_for(flag, whole) for whole in flags):
            yield None


def _is_short_for(word: str, flag: str) -> bool:
    """Whether a word may stand for a flag: `--work 4` for `--workers`, `-j4` for `-j`."""
    if flag.startswith("--"):
        return len(word) > len("--") and flag.startswith(word)
    return flag.startswith("-") and not word.startswith("--") and word.startswith(flag)


def _converted(word: str | None, declared: list[ast.Call], namespace: Derived) -> Const | None:
    """A word as `type=` reads it."""
    kinds = [keyword.value for call in declared for keyword in call.keywords if keyword.arg == "type"]
    kind = _KINDS.get(last_name(kinds[0])) if len(kinds) == len(declared) == 1 else None
    if word is None or kind is None:
        return None
    try:
        return Const(kind(word), namespace.node, namespace.frame.scope)
    except ValueError:
        return None
