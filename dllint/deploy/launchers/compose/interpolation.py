"""`${NAME:-default}` in the values of a compose file, and `.env` files, as compose reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from dllint.patterns import pattern

_DOLLAR = pattern(r"\$(?:(\$)|([A-Za-z_]\w*)|\{)", re.ASCII)
_BRACED = pattern(r"([A-Za-z_]\w*)(:?[-?+])?", re.ASCII)
_ENV_LINE = pattern(r"\s*(?:export\s+)?([A-Za-z_][\w.-]*)\s*(?:=|:\s)\s*(.*)", re.ASCII)
_DEEPEST = 10


class Text(NamedTuple):
    """What a value is once its variables are put in."""

    text: str
    """Where a variable's value is not known, its reference as it is written stands in."""
    known: bool = True
    """Whether no variable is missing."""


def interpolated(text: str, variables: Mapping[str, str], depth: int = 0) -> Text:
    """A value with its variables put in; one that nobody is seen to set has its default, or is not known."""
    if "$" not in text:
        return Text(text)
    parts, known, position = [], True, 0
    while (found := _DOLLAR.search(text, position)) is not None:
        parts.append(text[position : found.start()])
        end = found.end() if found[1] or found[2] else _closing(text, found.end())
        reference = text[found.start() : end]
        part = Text("$") if found[1] else _value(reference, variables, depth)
        parts.append(part.text)
        known = known and part.known
        position = end
    return Text("".join([*parts, text[position:]]), known)


def _closing(text: str, start: int) -> int:
    """The end of a reference whose brace stands before `start`; references may stand in its default."""
    depth = 1
    for position in range(start, len(text)):
        if text[position] == "}":
            depth -= 1
        elif text.startswith("${", position):
            depth += 1
        if depth == 0:
            return position + 1
    return len(text)


def _value(reference: str, variables: Mapping[str, str], depth: int) -> Text:
    inner = reference.removeprefix("${").removesuffix("}") if reference.startswith("${") else reference[1:]
    found = _BRACED.match(inner)
    if found is None or depth > _DEEPEST:
        return Text(reference, known=False)
    name, operator, rest = found[1], found[2] or "", inner[found.end() :]
    value = variables.get(name)
    is_set = value is not None and (value != "" or not operator.startswith(":"))
    if operator.endswith("+"):
        if is_set:
            return interpolated(rest, variables, depth + 1)
        return Text(reference, known=False) if value is None else Text("")
    if value is not None and (is_set or not operator):
        return Text(value)
    if operator.endswith("-"):
        return interpolated(rest, variables, depth + 1)
    return Text(reference, known=False)


def env_file(text: str, known: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables that a `.env` file sets; later lines may use earlier ones and `known`."""
    found = dict(known or {})
    own: dict[str, str] = {}
    for line in text.removeprefix("\ufeff").splitlines():
        match = _ENV_LINE.fullmatch(line)
        if match is None:
            continue
        value = _unquoted(match[2].strip(), found)
        if value.known:
            found[match[1]] = own[match[1]] = value.text
    return own


def _unquoted(text: str, known: Mapping[str, str]) -> Text:
    if text.startswith("'"):
        return Text(text[1:].partition("'")[0])
    if text.startswith('"'):
        return interpolated(text[1:].partition('"')[0], known)
    return interpolated(re.sub(r"(?<!\s)\s+#.*|^#.*", "", text), known)
