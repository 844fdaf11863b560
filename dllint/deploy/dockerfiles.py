"""Dockerfiles as stages: what each starts from, copies and runs, with known ARG and ENV values put in."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from dllint.patterns import pattern
from dllint.records import dataclass, field
from dllint.syntax.dockerfile import Instruction, unquoted

_VARIABLE = pattern(r"\\\$|\$(?:(\w+)|\{(\w+)(?:(:?[-+?])([^{}]*))?\})")
_PAIR = pattern(r"""(?<![\w.-])([\w.-]+)=((?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')*)""", re.DOTALL)
_ENVIRONMENT = pattern(r"venv|virtualenv|\benv\b|-packages|\.local\b|conda|/install\b|^/usr/local(?:/lib[^/]*)?/?$")
"""A path that holds installed packages."""

_LONGEST = 20_000
"""Characters that a text has at most once variables are put in."""


class Copy(NamedTuple):
    """One file or folder that COPY or ADD puts into an image."""

    source: str
    """As written: in the build context, or in the stage `origin`."""
    target: str
    """Where it lies in the image; a folder where the source is one. Absolute as far as the WORKDIR is known."""
    instruction: Instruction
    origin: str = ""
    """The stage or image that it comes from; empty for the build context."""


@dataclass(slots=True)
class Stage:
    """One stage of a build: a FROM and what follows it."""

    start: Instruction
    base: str
    """The image that it starts from; what is not known of it stays as written, such as `${TAG}`."""
    name: str = ""
    parent: Stage | None = None
    """The stage that it starts from."""
    values: dict[str, str] = field(default_factory=dict)
    instructions: list[Instruction] = field(default_factory=list)
    copies: list[Copy] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    workdir: str = ""
    entrypoint: tuple[str, ...] | None = None
    command: tuple[str, ...] | None = None

    @property
    def ancestry(self) -> list[Stage]:
        """The stages from the first one that it builds on to itself."""
        stages: list[Stage] = [self]
        while (parent := stages[0].parent) is not None:
            stages.insert(0, parent)
        return stages

    def expand(self, text: str) -> str:
        """The text with variables put in."""
        return expand(text, self.values)


def stages(instructions: Iterable[Instruction], arguments: Mapping[str, str]) -> list[Stage]:
    """The stages of the Dockerfile that has these instructions, built with these arguments."""
    found: list[Stage] = []
    given: dict[str, str] = {}
    for instruction in instructions:
        if instruction.keyword == "FROM" and not instruction.on_build:
            found.append(_started(instruction, found, given))
        elif found:
            found[-1].instructions.append(instruction)
            _READERS.get(instruction.keyword, _nothing)(found[-1], instruction, {**given, **arguments})
        elif instruction.keyword == "ARG":
            _read_argument(given, instruction, arguments)
    return found


def expand(text: str, values: Mapping[str, str]) -> str:
    """A text with `$X`, `${X}`, `${X:-d}`, `${X-d}` and `${X:+d}` put in; what is not known stays as written.

    So does a text that would grow beyond all use: `ENV A=$A$A` doubles with each line.
    """

    def put_in(found: re.Match[str]) -> str:
        name, operator, word = found[1] or found[2], found[3] or "", found[4] or ""
        if not name:
            return "$"
        value = values.get(name)
        if operator.endswith("-"):
            return expand(word, values) if value is None or (operator == ":-" and not value) else value
        if operator.endswith("+"):
            return expand(word, values) if value or (operator == "+" and value is not None) else ""
        return found[0] if value is None else value

    found = _VARIABLE.sub(put_in, text) if "$" in text else text
    return found if len(found) <= _LONGEST else text


def _started(instruction: Instruction, before: list[Stage], given: Mapping[str, str]) -> Stage:
    words = [expand(word, given) for word in instruction.words]
    base = words[0] if words else ""
    name = words[2] if len(words) > 2 and words[1].lower() == "as" else ""
    parent = stage_called(base, before)
    if parent is None:
        return Stage(instruction, base, name)
    stage = Stage(instruction, parent.base, name, parent, dict(parent.values), labels=dict(parent.labels))
    stage.workdir, stage.entrypoint, stage.command = parent.workdir, parent.entrypoint, parent.command
    return stage


def stage_called(name: str, stages: Iterable[Stage]) -> Stage | None:
    """The stage with a name, or a number; names know no case."""
    numbered = list(stages)
    named = next((stage for stage in reversed(numbered) if stage.name and stage.name.lower() == name.lower()), None)
    if named is None and name.isdecimal() and len(name) < 4 and int(name) < len(numbered):
        return numbered[int(name)]
    return named


def _nothing(stage: Stage, instruction: Instruction, given: Mapping[str, str]) -> None:
    return None


def _read_argument(values: dict[str, str], instruction: Instruction, given: Mapping[str, str]) -> None:
    for word in instruction.words:
        name, has_default, default = word.partition("=")
        if name in given:
            values[name] = given[name]
        elif has_default:
            values[name] = expand(default, values)


def _argument(stage: Stage, instruction: Instruction, given: Mapping[str, str]) -> None:
    _read_argument(stage.values, instruction, given)


def _environment(stage: Stage, instruction: Instruction, given: Mapping[str, str]) -> None:
    stage.values.update({name: stage.expand(value) for name, value in _pairs(instruction)})


def _label(stage: Stage, instruction: Instruction, given: Mapping[str, str]) -> None:
    stage.labels.update({name: stage.expand(value) for name, value in _pairs(instruction)})


def _pairs(instruction: Instruction) -> list[tuple[str, str]]:
    """`A=1 B=2`, or the older `A 1`."""
    first, _, rest = instruction.rest.partition(" ")
    if "=" not in first:
        return [(unquoted(first), rest.strip())]
    return [(found[1], unquoted(found[2])) for found in _PAIR.finditer(instruction.rest)]


def _workdir(stage: Stage, instruction: Instruction, given: Mapping[str, str]) -> None:
    stage.workdir = _below(stage, stage.expand(unquoted(instruction.rest.strip())))


def _below(stage: Stage, path: str) -> str:
    return path if path.startswith("$") else posixpath.normpath(posixpath.join(stage.workdir or "/", path))


def _copy(stage: Stage, instruction: Instruction, given: Mapping[str, str]) -> None:
    words = [stage.expand(word) for word in instruction.words]
    sources = [word for word in words[:-1] if not word.startswith("<<") and "://" not in word]
    if not sources:
        return
    target = _below(stage, words[-1])
    into = words[-1].endswith(("/", ".")) or len(words) > 2
    for source in sources:
        name = posixpath.basename(source.rstrip("/"))
        # Of a folder, COPY takes what lies in it: only a file comes to lie under its own name.
        lies = posixpath.join(target, name) if into and "." in name.lstrip(".") else target
        stage.copies.append(Copy(source, lies, instruction, stage.expand(instruction.flag("from"))))


def _entrypoint(stage: Stage, instruction: Instruction, given: Mapping[str, str]) -> None:
    stage.entrypoint, stage.command = _run_by(instruction), None


def _command(stage: Stage, instruction: Instruction, given: Mapping[str, str]) -> None:
    stage.command = _run_by(instruction)


def _run_by(instruction: Instruction) -> tuple[str, ...]:
    if instruction.json is not None:
        return tuple(instruction.json)
    return ("/bin/sh", "-c", instruction.rest) if instruction.rest else ()


_READERS = {
    "ARG": _argument,
    "ENV": _environment,
    "LABEL": _label,
    "WORKDIR": _workdir,
    "COPY": _copy,
    "ADD": _copy,
    "ENTRYPOINT": _entrypoint,
    "CMD": _command,
}


def brings_packages(copy: Copy) -> bool:
    """Whether a copy out of another stage takes installed packages along."""
    return _ENVIRONMENT.search(copy.source) is not None
