"""Every regular expression of dllint, and lines that make a careless one take for ever."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from random import Random
from types import ModuleType
from typing import Any

import dllint.patterns
from clock import TooSlowError, limit
from harness import ROOT

LENGTH = 50_000
"""Characters of an attacking line."""
SLOW = 0.5
"""Seconds of processor time that one expression may take for it."""
ATOMS = (
    *(
        "a",
        " ",
        "\t",
        "\n",
        "(",
        "[",
        "{",
        "{{",
        "{%",
        "\\",
        '"',
        "'",
        "`",
        "$",
        "${",
        "$(",
        "x=",
        "-",
        "--a",
        "#",
        "/",
    ),
    *(".", ",", ":", "<<", "<", "%", "=", "|", "0", "1,", "a.", "a b ", "\\\n", "\r\n", " \n", "> ", '"a', "a: ", "é"),
)
SHORT = {
    "dllint.diagnose.": 10_000,
    "dllint.code.loaders.late_attributes._LOADER_BEFORE": 100,
}
"""Expressions that get no more than so many characters: where they are used, longer lines are cut."""
_METHODS = ("fullmatch", "match", "search", "finditer", "findall", "sub", "split")
_MOST_WORDS = 20
_WORDS = re.compile(r"[A-Za-z]{2,}(?: [A-Za-z]+)*|[^\w\s\\]")


@dataclass(frozen=True)
class Use:
    """One expression, and one way in which it is used."""

    place: str
    pattern: re.Pattern[Any]
    method: str

    def fitting(self, length: int) -> int:
        """The characters that it may get, of so many."""
        return min(length, *(most for place, most in SHORT.items() if self.place.startswith(place)), length)

    def seconds(self, text: str, most: float) -> float:
        """Processor time for one text; `most`, and more than that, where it had to be interrupted."""
        subject = text.encode() if isinstance(self.pattern.pattern, bytes) else text
        start = time.process_time()
        try:
            with limit(most):
                self._apply(subject)
        except TooSlowError:
            return most + time.process_time() - start
        return time.process_time() - start

    def _apply(self, subject: Any) -> None:
        if self.method == "sub":
            self.pattern.sub(subject[:0], subject)
        elif self.method == "finditer":
            for _ in self.pattern.finditer(subject):
                pass
        else:
            getattr(self.pattern, self.method)(subject)


def uses() -> list[Use]:
    """Each expression that dllint compiles when it is imported, or writes down where it uses it."""
    trees = {
        path: ast.parse(path.read_bytes()) for path in sorted([*ROOT.glob("dllint/**/*.py"), *ROOT.glob("rules/*.py")])
    }
    inline = [use for path, tree in trees.items() for use in _inline(path.relative_to(ROOT).as_posix(), tree)]
    methods = {str(path): _methods(tree) for path, tree in trees.items()}
    everywhere = _merged(methods.values())
    for module, name, pattern in _compiled():
        # What begins with an underscore is used where it stands, other names where they are imported, too.
        own = methods[str(module.__file__)] if name.startswith("_") else everywhere
        inline += [Use(f"{module.__name__}.{name}", pattern, method) for method in sorted(own[name] or {"search"})]
    return inline


def _methods(tree: ast.Module) -> dict[str, set[str]]:
    """By name: the methods of an expression, or of those in a table, that are named in a module."""
    found: dict[str, set[str]] = defaultdict(set)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in _METHODS:
            for name in (each.id for each in ast.walk(node.value) if isinstance(each, ast.Name)):
                found[name].add(node.attr)
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.iter, ast.Name):
            for name in (each.id for each in ast.walk(node.target) if isinstance(each, ast.Name)):
                found[node.iter.id] |= found[name]
    return found


def _merged(tables: Iterable[dict[str, set[str]]]) -> dict[str, set[str]]:
    merged: dict[str, set[str]] = defaultdict(set)
    for table in tables:
        for name, methods in table.items():
            merged[name] |= methods
    return merged


def _inline(place: str, tree: ast.Module) -> Iterator[Use]:
    """`re.sub(r"...", ...)` and `re.compile(r"...").match(...)`, as far as they are spelled out."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in _METHODS:
            continue
        call = node.func.value if isinstance(node.func.value, ast.Call) else node
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if isinstance(owner, ast.Name) and owner.id == "re" and call.args and isinstance(call.args[0], ast.Constant):
            yield Use(f"{place}:{node.lineno}", re.compile(call.args[0].value, _flags(call)), node.func.attr)


def _flags(call: ast.Call) -> int:
    words = " ".join(ast.unparse(argument) for argument in [*call.args[1:], *(k.value for k in call.keywords)])
    return sum(getattr(re, name) for name in ("MULTILINE", "DOTALL", "IGNORECASE") if f"re.{name}" in words)


def _compiled() -> Iterator[tuple[ModuleType, str, re.Pattern[Any]]]:
    for found in pkgutil.walk_packages(dllint.__path__, "dllint."):
        if found.name.endswith("__main__"):
            continue
        module = importlib.import_module(found.name)
        for name, value in list(vars(module).items()):
            if not name.startswith("__"):
                for pattern in _patterns_in(value):
                    yield module, name, pattern


def _patterns_in(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif type(value).__module__ == dllint.patterns.__name__:
        lazy: Any = value
        yield re.compile(lazy.pattern, lazy.flags)
    elif isinstance(value, (tuple, list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _patterns_in(item)


def attacks(pattern: str, length: int, seed: int, mixtures: int) -> Iterator[str]:
    """Lines of one atom, of two in turns, of two after another, and of words that the expression itself looks for."""
    random = Random(f"{seed} {pattern!r}")
    own = sorted(set(_WORDS.findall(pattern)))
    atoms = [*ATOMS, *random.sample(own, min(len(own), 12))]
    for atom in atoms:
        yield _filled(atom, length)
        yield _filled(atom, length) + "!"
    for word, blank in product([word for word in own if word.isalpha()][:_MOST_WORDS], (" ", "\n", "9")):
        yield word + _filled(blank, length)
    for _ in range(mixtures):
        one, two, three = (random.choice(atoms) for _ in range(3))
        yield _filled(one + two, length)
        yield one + _filled(two, length) + three
        yield _filled(one, length // 2) + _filled(two, length // 2) + three


def _filled(atom: str, length: int) -> str:
    return atom * (length // len(atom) or 1)


@dataclass(frozen=True)
class Attacked:
    """How an expression stood its attacks."""

    seconds: float
    """The most that one of them cost."""
    text: str
    count: int


def attacked(use: Use, seed: int = 1, *, length: int = LENGTH, most: float = SLOW, mixtures: int = 60) -> Attacked:
    """Attack one expression until an attack costs more than `most` seconds."""
    worst, worst_text, count = 0.0, "", 0
    for text in attacks(_text(use.pattern), use.fitting(length), seed, mixtures):
        count += 1
        seconds = use.seconds(text, most)
        if seconds > worst:
            worst, worst_text = seconds, text
        if worst > most:
            break
    return Attacked(worst, f"{worst_text[:40]!r}...{worst_text[-10:]!r}", count)


def _text(pattern: re.Pattern[Any]) -> str:
    source = pattern.pattern
    return source.decode("latin-1") if isinstance(source, bytes) else str(source)
