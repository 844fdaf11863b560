"""Makefiles (and justfiles) -> the scripts of their recipes, with the variables that the file sets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from dllint.deploy.commands import Script
from dllint.deploy.texts import DeployFile
from dllint.patterns import pattern
from dllint.records import dataclass, field
from dllint.syntax.mapped import Mapped, joined

_ASSIGNED = pattern(r"(?:export\s+|override\s+)*([A-Za-z_][\w.-]*)\s*(\?|\+|::?:?|!)?=[ \t]*")
_JUST_ASSIGNED = pattern(r"(?:export\s+)?([A-Za-z_][\w-]*)\s*:=\s*[\"']?")
_REFERENCE = pattern(r"\$(?:\$|\(([^()$]*)\)|\{([^{}$]*)\}|([A-Za-z@<^]))")
_JUST_REFERENCE = pattern(r"\{\{\s*([\w-]+)\s*\}\}")
_CONDITION = pattern(r"\s*(?:ifeq|ifneq|ifdef|ifndef)\b")
_CONDITION_END = pattern(r"\s*endif\b")
_RULE = pattern(r"([^\s:=#][^:=#]*?)\s*::?(?![:=])([^=#;]*)(?:#.*)?", re.DOTALL)
_JUST_RULE = pattern(r"@?([A-Za-z_][\w-]*)\b[^:]*:(?!=)([^#]*)(?:#.*)?", re.DOTALL)
_VALUED = frozenset({"-C", "--directory", "-f", "--file", "--makefile", "-d", "--working-directory", "--justfile"})
"""Options of make and just with a value of their own."""
_DEEPEST = 8
_MOST_RULES = 200
"""Rules that one target needs at most."""
_MOST = 20_000
"""Characters of one recipe with its variables put in."""


def recipes(file: DeployFile) -> Iterator[Script]:
    """The recipes of a file, one script for each rule."""
    reader = _Makefile(file)
    return filter(None, map(reader.script, reader.rules))


def of_targets(file: DeployFile, targets: Sequence[str], given: Mapping[str, str]) -> list[Script] | None:
    """The recipes that make goes through for these targets, the first one where none is named; None where one is not
    seen. `given`: variables of the command line."""
    reader = _Makefile(file)
    reader.variables.update((name, Mapped(value)) for name, value in given.items())
    first = next((rule.targets[:1] for rule in reader.rules if rule.targets), ())
    wanted, seen = targets or first, set[int]()
    if any(all(target not in rule.targets for rule in reader.rules) for target in wanted):
        return None
    needed = (rule for target in wanted for rule in reader.needed(target, seen))
    return [script for rule in needed if (script := reader.script(rule)) is not None]


@dataclass(slots=True)
class _Rule:
    """One rule."""

    targets: list[str] = field(default_factory=list)
    needs: list[str] = field(default_factory=list)
    lines: list[Mapped] = field(default_factory=list)
    """Its recipe."""


class _Makefile:
    """The variables and recipes of one file."""

    def __init__(self, file: DeployFile) -> None:
        self.is_just = file.name.lower() == "justfile"
        self._folder = file.folder
        self.variables: dict[str, Mapped | None] = {}
        """None for what is not known."""
        self.rules: list[_Rule] = []
        self.budget = _MOST
        """Characters that may still be put into a recipe."""
        self._conditions = 0
        self._whole = Mapped(file.text)
        in_recipe = False
        for start, end in _logical_lines(file.text):
            text = file.text[start:end]
            if text.startswith("\t") or (self.is_just and text[:1] == " " and text.strip()):
                if not self.rules:
                    self.rules.append(_Rule())
                self.rules[-1].lines.append(self._recipe_line(start, end))
                in_recipe = True
            elif text.strip() and not text.lstrip().startswith("#"):
                is_condition = self._condition(text)
                in_recipe = is_condition and in_recipe
                if not is_condition:
                    self._begin_rule(text)
                self._assign(text, start)

    def _begin_rule(self, text: str) -> None:
        """Begin what the next lines are the recipe of: a rule, or nothing that has a name."""
        found = (_JUST_RULE if self.is_just else _RULE).fullmatch(text.rstrip())
        targets, needs = (found[1].split(), found[2].replace("|", " ").split()) if found else ([], [])
        self.rules.append(_Rule([target for target in targets if not target.startswith(".")], needs))

    def needed(self, target: str, seen: set[int]) -> Iterator[_Rule]:
        """The rules of a target, behind those of what it needs; none twice."""
        for rule in self.rules:
            if target in rule.targets and id(rule) not in seen and len(seen) < _MOST_RULES:
                seen.add(id(rule))
                for need in rule.needs:
                    yield from self.needed(need, seen)
                yield rule

    def script(self, rule: _Rule) -> Script | None:
        """The recipe of a rule; None where it has none, or one that grows beyond all use."""
        self.budget = _MOST
        source = joined(self.expanded(line, 0) for line in rule.lines)
        if not rule.lines or len(source.text) > _MOST:
            return None
        span = (rule.lines[0].origin(0), rule.lines[-1].origin(0) + len(rule.lines[-1].text))
        return Script(source, self._folder, span=span)

    def _condition(self, text: str) -> bool:
        """Whether the line is a conditional's, which may stand inside of a recipe."""
        if _CONDITION.match(text):
            self._conditions += 1
        elif _CONDITION_END.match(text):
            self._conditions = max(self._conditions - 1, 0)
        elif not text.lstrip().startswith("else"):
            return False
        return True

    def _recipe_line(self, start: int, end: int) -> Mapped:
        text = self._whole.text[start:end]
        return self._whole.cut(start + len(text) - len(text.lstrip().lstrip("@-+ \t")), end)

    def _assign(self, text: str, start: int) -> None:
        found = (_JUST_ASSIGNED if self.is_just else _ASSIGNED).match(text)
        if found is None:
            return
        name, operator = found[1], "" if self.is_just else found[2] or ""
        stop = len(text.rstrip())
        if not self.is_just and (comment := re.search(r"(?<!\s)\s+#", text)):
            stop = min(stop, comment.start())
        if self.is_just:
            stop -= text[:stop].endswith(('"', "'"))
        value: Mapped | None = self._whole.cut(start + found.end(), start + max(stop, found.end()))
        self._set(name, operator, value)

    def _set(self, name: str, operator: str, value: Mapped | None) -> None:
        before = self.variables.get(name)
        if operator == "!":
            value = None
        elif operator == "?" and name in self.variables:
            return
        elif operator == "?" and value is not None and not value.text:
            value = None  # a place for what whoever calls make adds
        elif operator == "+" and name in self.variables:
            value = joined((before, Mapped(" "), value)) if before is not None and value is not None else None
        elif self._conditions and name in self.variables and before is not None and value is not None:
            value = value if not before.text or before.text == value.text else None
        self.variables[name] = value

    # Variables put in

    def expanded(self, source: Mapped, depth: int) -> Mapped:
        """A text with its variables put in; what is not known becomes a shell's variable, which is not known either."""
        pattern = _JUST_REFERENCE if self.is_just else _REFERENCE
        pieces, index = [], 0
        for found in pattern.finditer(source.text):
            pieces.append(source.cut(index, found.start()))
            pieces.extend(self._value(found, source, depth))
            index = found.end()
        return joined([*pieces, source.cut(index)]) if pieces else source

    def _value(self, found: re.Match[str], source: Mapped, depth: int) -> Iterator[Mapped]:
        if found[0] == "$$":
            yield source.cut(found.end() - 1, found.end())
            return
        name = next((group for group in found.groups() if group is not None), "")
        value = self.variables.get(name)
        if value is not None and depth < _DEEPEST and self.budget > 0:
            self.budget -= len(value.text) + 1
            yield self.expanded(value, depth + 1)
        elif name == "MAKE":
            yield source.cut(found.start() + 2, found.start() + 6).replaced("make")
        elif name == "CURDIR":
            yield source.cut(found.start(), found.start() + 1).replaced(".")
        else:
            yield source.cut(found.start(), found.end())


def _logical_lines(text: str) -> Iterator[tuple[int, int]]:
    """The offsets of each line with those that it is continued in."""
    start = 0
    while start < len(text):
        end = start
        while True:
            end = text.find("\n", end)
            end = len(text) if end < 0 else end
            if not text[start:end].rstrip("\r").endswith("\\") or end == len(text):
                break
            end += 1
        yield start, min(end + 1, len(text))
        start = end + 1


# --- what make is asked for ---


class Goals(NamedTuple):
    """What make is asked for."""

    targets: list[str]
    variables: dict[str, str]
    folder: str = ""
    file: str = ""


def goals_of(words: Sequence[str]) -> Goals:
    """What the words behind make, or just, ask for."""
    found = Goals([], {})
    index = 0
    while index < len(words):
        word = words[index]
        name, equals, value = word.partition("=")
        if word in _VALUED:
            value, index = "".join(words[index + 1 : index + 2]), index + 1
        if name in ("-C", "--directory", "--working-directory"):
            found = found._replace(folder=value)
        elif name in ("-f", "--file", "--makefile", "--justfile"):
            found = found._replace(file=value)
        elif equals and not name.startswith("-"):
            found.variables[name] = value
        elif not word.startswith("-") and not word.isdecimal():
            found.targets.append(word)
        index += 1
    return found
