"""Which commands a shell script comes to: by what it is passed, by its environment, and by the functions it calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from dllint.deploy.commands import Command
from dllint.deploy.environment import Environment
from dllint.patterns import pattern
from dllint.syntax.shell_tree import UNSEEN, Arm

_FIRST = pattern(r"\$(?:1|\{1(?::?-([^{}$]*))?\})")
"""The first word that a script is passed, and what stands for it where there is none."""
_PASSED = pattern(r"\$(?:(\d)|\{(\d)\})")
_PLAIN = pattern(r"[\w.:/@+-]*")
_ALL = ("$@", "$*", "${@}", "${*}")
_PASSING = ("set", "shift")
_DEEPEST = 6
"""Functions that call one another are followed so far."""
_MOST = 2_000
"""Commands of one run that are followed."""


class Come(NamedTuple):
    """A command that a script comes to."""

    command: Command
    words: list[str]
    """Its words, with what the script or its function is passed in the place of `"$@"`."""
    choices: tuple[Arm, ...] = ()
    """The comparisons around it of which nobody sees how they end: it may be left out."""


def come_to(script: Iterable[Command], passed: Sequence[str], environment: Environment) -> list[Come]:
    """The commands that a script comes to: for `train` those below `case "$1" in train)`."""
    return list(_Flow(list(script), environment).every(passed))


def is_sure(choices: Iterable[tuple[Arm, ...]]) -> bool:
    """Whether at least one of some commands, each with the unknown comparisons around it, certainly runs: one stands
    in no such comparison, or all branches of one have some."""
    every = list(choices)
    if not all(every):
        return True
    taken = [(arms[0].subject, mark) for arms in every if len(arms) == 1 for mark in arms[0].patterns]
    last = (arms[0] for arms in every if len(arms) == 1 and "*" in arms[0].patterns)
    return any(all((arm.subject, mark) in taken for mark in arm.before) for arm in last)


class _Flow:
    def __init__(self, script: list[Command], environment: Environment) -> None:
        self._environment = environment
        self._top = [command for command in script if not command.function]
        self._bodies: dict[str, list[Command]] = {}
        for command in script:
            if command.function:
                self._bodies.setdefault(command.function, []).append(command)
        self._left = _MOST
        self._has_ended = False
        self._calls_unseen = False
        """Whether it comes to a command whose name nobody sees."""

    def every(self, passed: Sequence[str]) -> Iterator[Come]:
        yield from self._through(self._top, passed, (), 0)
        for name in self._called_unseen():
            yield from self._through(self._bodies[name], (), (Arm(UNSEEN),), 0)

    def _called_unseen(self) -> list[str]:
        """The functions that no command calls by name, but that may be called: by a variable, or by another program."""
        every = [command for commands in (self._top, *self._bodies.values()) for command in commands]
        heads = {command.words[0].text for command in every}
        others = {word.text for command in every for word in command.words[1:]}
        return [name for name in self._bodies if name not in heads and (self._calls_unseen or name in others)]

    def _through(
        self, commands: Iterable[Command], passed: Sequence[str], choices: tuple[Arm, ...], depth: int
    ) -> Iterator[Come]:
        left = list(passed)
        """What is left of it for `"$@"`; what is compared is what was passed."""
        for command in commands:
            matches = [self._matches(arm, passed) for arm in command.arms]
            if False in matches:
                continue
            if self._has_ended or self._left <= 0:
                return
            self._left -= 1
            unknown = (arm for arm, match in zip(command.arms, matches, strict=True) if match is None and arm.subject)
            if command.texts[0] in _PASSING:
                left = _after(command, left, is_certain=None not in matches)
                continue
            yield from self._run(command, left, (*choices, *unknown), depth)
            if command.ends and None not in matches:
                self._has_ended = command.texts[0] != "return" and not choices
                return

    def _run(self, command: Command, passed: Sequence[str], choices: tuple[Arm, ...], depth: int) -> Iterator[Come]:
        words = _passed_on(command.texts, passed)
        self._calls_unseen = self._calls_unseen or "$" in words[0]
        body = self._bodies.get(words[0])
        if body is None or depth >= _DEEPEST:
            yield Come(command, words, choices)
        else:
            yield from self._through(body, words[1:], choices, depth + 1)

    def _matches(self, arm: Arm, passed: Sequence[str]) -> bool | None:
        """Whether an arm is gone into; None where that cannot be told."""
        word = self._word(arm.subject, passed)
        if word is None:
            return None
        if any(fnmatchcase(word, pattern) for pattern in arm.before):
            return False
        if any(fnmatchcase(word, pattern) for pattern in arm.patterns):
            return None if any("$" in pattern for pattern in arm.before) else True
        return None if any("$" in pattern for pattern in arm.patterns) else False

    def _word(self, subject: str, passed: Sequence[str]) -> str | None:
        """What is compared; None where that cannot be told."""
        if not subject:
            return None
        first = _FIRST.fullmatch(subject)
        if first is None:
            return subject if _PLAIN.fullmatch(subject) else self._environment.value_of(subject)
        word = passed[0] if passed else first[1]
        return word if word and "$" not in word else None


def _passed_on(command: Sequence[str], passed: Sequence[str]) -> list[str]:
    """A command with what is passed in its place; one empty word where that is all of it, and nobody sees any."""
    found: list[str] = []
    for word in command:
        one = _PASSED.fullmatch(word)
        number = int(one[1] or one[2]) if one is not None else 0
        found += passed if word in _ALL else [passed[number - 1]] if 0 < number <= len(passed) else [word]
    return found or [""]


def _after(command: Command, passed: list[str], *, is_certain: bool) -> list[str]:
    """What is passed behind a `shift` or `set -- ...`; such a default, under a condition that nobody sees, counts where
    nothing is passed."""
    words = command.texts
    if words[0] == "shift":
        return passed[1:] if is_certain else passed
    is_set = words[1:2] == ["--"] and (is_certain or not passed)
    return [word for word in _passed_on(words[2:], passed) if word] if is_set else passed
