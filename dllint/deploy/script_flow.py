"""Which commands a shell script comes to: by what it is passed, by its environment, and by the functions it calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from dllint.deploy.commands import Command
from dllint.deploy.environment import Environment
from dllint.deploy.shell_state import ShellState, opens
from dllint.deploy.shell_tests import holds, ways_taken
from dllint.deploy.wrappers import words_before
from dllint.syntax.shell_forks import Fork, Way, condition_of, fails

_PASSING = ("set", "shift")
_SOURCING = ("source", ".")
_WAITING = (["sleep", "infinity"], ["tail", "-f", "/dev/null"])
_DEEPEST = 12
"""Functions and files that call one another are followed so far."""
_MOST = 20_000
"""Commands of one run that are followed."""
_MOST_BRANCHES = 64
"""Of what is decided by more ways, or more forks after one another, nobody says whether it certainly runs."""

Find = Callable[[str], list[Command] | None]
"""The steps of the project's script of a name; None where it has none."""


class Choice(NamedTuple):
    """A fork of which nobody sees which way is gone, and those of its ways that lead to a command."""

    fork: Fork
    numbers: frozenset[int]


Choices = tuple[Choice, ...]


class Come(NamedTuple):
    """A command that a script comes to."""

    command: Command
    words: list[str]
    """Its words, with what the script or its function is passed in the place of `"$@"`."""
    environment: Environment
    """The variables that it finds."""
    choices: Choices = ()
    """What decides whether it runs, as far as nobody sees how that ends."""


def come_to(script: Iterable[Command], passed: Sequence[str], environment: Environment, find: Find) -> list[Come]:
    """The commands that a script comes to: for `train` those below `case "$1" in train)`."""
    return list(_Flow(list(script), ShellState(environment, passed), find).every())


def is_sure(ways: Iterable[Choices]) -> bool:
    """Whether at least one of some commands certainly runs: whichever way is gone from the forks around them, one lies
    on it, or the script fails there."""
    return _is_sure(list(ways), 0)


def _is_sure(every: list[Choices], depth: int) -> bool:
    if not all(every):
        return True
    if not every or depth > 6 or len(every) > _MOST_BRANCHES:
        return False
    fork = every[0][0].fork
    if fork.count > _MOST_BRANCHES:
        return False
    return all(n in fork.failing or _is_sure(_left(every, fork, n), depth + 1) for n in range(fork.count))


def _left(every: list[Choices], fork: Fork, number: int) -> list[Choices]:
    """What is left to be decided where one way of a fork is gone."""
    on_it = (each for each in every if all(other.fork is not fork or number in other.numbers for other in each))
    return [tuple(other for other in each if other.fork is not fork) for each in on_it]


class _Ended(Exception):  # noqa: N818 - no error: the script is at its end
    """The script goes no further."""


class _Flow:
    def __init__(self, script: list[Command], state: ShellState, find: Find) -> None:
        self._state = state
        self._find = find
        self._top: list[Command] = []
        self._bodies: dict[str, list[Command]] = {}
        self._add([step for step in script if not step.is_handed])
        self._active: list[str] = []
        """The functions that are being run."""
        self._left = _MOST
        self._status: bool | None = None
        """How the last command ended."""
        self._calls_unseen = False
        """Whether it comes to a command whose name nobody sees."""

    def _add(self, script: list[Command]) -> list[Command]:
        """Take in the functions of a script; what it does outside of these."""
        bodies: dict[str, list[Command]] = {}
        for step in script:
            if not step.function:
                continue
            body = bodies.setdefault(step.function, [])
            if body and _replaces(step, body[-1]):
                body.clear()
            body.append(step)
        self._bodies.update(bodies)
        self._state.functions.update(bodies)
        top = [step for step in script if not step.function]
        self._top += top
        return top

    def every(self) -> Iterator[Come]:
        try:
            yield from self._through(list(self._top), (), 0)
        except _Ended:
            return
        for name in self._called_unseen():
            self._state.open()
            self._state.is_passed_known = False
            try:
                yield from self._through(self._bodies[name], (Choice(Fork(), frozenset()),), 0)
            except _Ended:
                continue

    def _called_unseen(self) -> list[str]:
        """The functions that no command calls by name, but that may be called: by a variable, or by another program."""
        every = [step for steps in (self._top, *self._bodies.values()) for step in steps if step.words]
        heads = {command.words[0].text for command in every}
        others = {word.text for command in every for word in command.words[1:]}
        return [name for name in self._bodies if name not in heads and (self._calls_unseen or name in others)]

    def _through(self, steps: Iterable[Command], choices: Choices, depth: int) -> Iterator[Come]:
        """Go through the steps of a script or a function."""
        taken: dict[int, list[bool | None]] = {}
        is_open = False
        """Whether it may have ended before."""
        self._status = True
        for step in steps:
            outcomes = [self._is_taken(way, taken) for way in step.ways]
            if False in outcomes:
                continue
            if self._left <= 0:
                raise _Ended
            self._left -= 1
            unknown = [way for way, outcome in zip(step.ways, outcomes, strict=True) if outcome is None]
            here = _with(choices, unknown)
            yield from self._step(step, here, depth, is_certain=not here and _is_plain(step))
            self._status = self._status_of(step) if not unknown else None
            if not _ends(step) or (step.words[0].text == "return" and not depth):
                continue  # outside of functions and sourced files, `return` fails
            if unknown or not _is_plain(step):
                choices = _behind(step, choices, unknown)
                is_open = True
            elif step.words[0].text == "return":
                break
            else:
                raise _Ended
        self._status = None if is_open else self._status

    def _status_of(self, step: Command) -> bool | None:
        """How a command ends, as far as that is known: tests, functions, and `return`."""
        simple = step.simple
        if simple is None or not simple.words:
            return None
        texts = [word.text for word in simple.words]
        if texts[0] == "return":
            return self._status if len(texts) == 1 else texts[1] == "0" if texts[1].isdecimal() else None
        return holds(condition_of(simple), self._state)

    def _is_taken(self, way: Way, taken: dict[int, list[bool | None]]) -> bool | None:
        """Whether a way is gone, as its fork is when it is come to for the first time; in a loop it may be later."""
        known = taken.get(id(way.fork))
        if known is None:
            known = taken[id(way.fork)] = ways_taken(way.fork, self._state)
        outcome = known[way.number] if way.number < len(known) else None
        return None if outcome is False and way.fork.is_looped else outcome

    def _step(self, step: Command, choices: Choices, depth: int, *, is_certain: bool) -> Iterator[Come]:
        state, simple = self._state, step.simple
        if simple is not None:
            state.enter(simple.depth)
            if is_certain and not simple.depth and state.lacks(simple):
                raise _Ended
            state.heed(simple, is_certain=is_certain)
        if not step.words:
            return
        texts = step.texts
        if texts[0] in _PASSING and simple is not None:
            state.pass_on(simple, texts, is_certain=is_certain)
            return
        sourced = self._find(texts[1]) if texts[0] in _SOURCING and len(texts) > 1 else None
        if sourced is not None and depth < _DEEPEST:
            yield from self._source([each for each in sourced if not each.is_handed], texts[2:], choices, depth)
            return
        if simple is not None and opens(simple):
            state.open()
        yield from self._run(step, choices, depth)

    def _source(self, script: list[Command], passed: list[str], choices: Choices, depth: int) -> Iterator[Come]:
        """Go through a sourced file, which may be passed words of its own."""
        outer = self._state.call(self._state.put_into(passed)) if passed else None
        yield from self._through(self._add(script), choices, depth + 1)
        if outer is not None:
            self._state.leave(outer)

    def _is_unseen(self, step: Command, name: str) -> bool:
        """Whether nobody sees what a command runs, or whoever starts the script is to say it: `do_$MODE`."""
        if "$" in name:
            return True
        is_chosen = "$" in step.texts[0] and name not in self._bodies
        return is_chosen and any(body.startswith(name) for body in self._bodies)

    def _words(self, step: Command) -> list[str]:
        """The words of a command with what variables hold, from its program on."""
        seen = self._state.words_of(step.simple.words) if step.simple is not None else None
        return self._state.put_into(step.texts) if seen is None else seen[words_before(seen) :] or [""]

    def _run(self, step: Command, choices: Choices, depth: int) -> Iterator[Come]:
        words = self._words(step)
        self._calls_unseen = self._calls_unseen or self._is_unseen(step, words[0])
        body = self._bodies.get(words[0])
        if words[0] in self._active:
            return  # what a function does that calls itself is seen
        if body is None or depth >= _DEEPEST:
            yield Come(step, words, self._state.inner_environment(step.simple), choices)
            return
        outer = self._state.call(words[1:])
        self._active.append(words[0])
        try:
            yield from self._through(body, choices, depth + 1)
        except _Ended:
            if _is_plain(step) and not choices and step.simple is not None and not step.simple.depth:
                raise
        self._active.pop()
        self._state.leave(outer)
        if step.simple is not None:
            self._state.statuses[id(step.simple)] = self._status


def _with(choices: Choices, unknown: list[Way]) -> Choices:
    """What decides about a command in a way that nobody sees taken."""
    known = {choice.fork for choice in choices}
    return (*choices, *(Choice(way.fork, frozenset({way.number})) for way in unknown if way.fork not in known))


def _replaces(step: Command, before: Command) -> bool:
    """Whether a step begins another body of the same function, which certainly takes the place of that before."""
    simple, other = step.simple, before.simple
    return simple is not None and other is not None and simple.body != other.body and not simple.ways


def _is_plain(step: Command) -> bool:
    """Whether the script itself runs a command, and nothing but forks decides whether it does."""
    simple = step.simple
    return simple is not None and simple.is_chosen and not simple.is_apart


def _ends(step: Command) -> bool:
    """Whether a script that comes to a command goes no further, or its function."""
    if step.simple is None or step.simple.depth or step.simple.is_apart or not step.words:
        return False
    name = step.simple.words[0].literal
    if name in ("exit", "return") or (name == "exec" and len(step.simple.words) > 1):
        return True
    return step.texts in _WAITING


def _behind(step: Command, choices: Choices, unknown: list[Way]) -> Choices:
    """What decides about what stands behind a command that may end the script."""
    if step.simple is None or step.words[0].text == "return" or fails(step.simple):
        return choices  # whoever starts it means it to go on
    if len(unknown) != 1:
        return (*choices, Choice(Fork(), frozenset()))
    fork, number = unknown[0]
    before = next((choice.numbers for choice in choices if choice.fork is fork), frozenset(range(fork.count)))
    others = tuple(choice for choice in choices if choice.fork is not fork)
    return (*others, Choice(fork, before - {number}))
