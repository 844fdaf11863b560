"""Which way a shell goes from a fork of a script, as far as what it tests is known."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase

from dllint.deploy.shell_state import ShellState
from dllint.patterns import pattern
from dllint.syntax.shell_forks import RETURN, Condition, Fork, Joined, Not, Ran, Test, is_anything
from dllint.syntax.shell_tree import PartKind, RawWord

_NUMBER = pattern(r"[+-]?\d{1,15}")
_ASKING = frozenset("(( [[ grep egrep fgrep command which type hash cmp diff pgrep".split())  # noqa: SIM905 - read better
"""Commands that are run to ask something: nobody presumes that they succeed."""
_FILE_TEST = pattern(r"-[a-zA-Z]")
_MAGIC = pattern(r"[*?\[]")
_BY_NUMBER: dict[str, Callable[[int, int], bool]] = {
    "-eq": operator.eq,
    "-ne": operator.ne,
    "-lt": operator.lt,
    "-le": operator.le,
    "-gt": operator.gt,
    "-ge": operator.ge,
}


def ways_taken(fork: Fork, state: ShellState) -> list[bool | None]:
    """For each way of a fork whether it is gone; None where that cannot be known."""
    if fork.is_mixed:
        return [None] * fork.count
    found: list[bool | None] = []
    is_reached: bool | None = True
    for fits in _fits(fork, state):
        found.append(False if is_reached is False or fits is False else is_reached and fits)
        is_reached = False if fits is True else None if fits is None else is_reached
    return found if len(found) == fork.count else [*found, is_reached]


def _fits(fork: Fork, state: ShellState) -> Iterator[bool | None]:
    """For each way whether its own condition or pattern fits, whatever those before it do."""
    if fork.items is not None:
        words = state.words_of(fork.items)
        yield words is None or bool(words)
        return
    if fork.subject is None:
        yield from (holds(condition, state, presumes=fork.presumes) for condition in fork.conditions)
        return
    value = state.value_of(fork.subject)
    for patterns in fork.patterns:
        outcomes = [_matches(value, each, state) for each in patterns]
        yield True if True in outcomes else None if None in outcomes else False


def holds(condition: Condition, state: ShellState, *, presumes: bool = False) -> bool | None:
    """Whether a condition holds; None where that cannot be known.

    `presumes`: whether a program that asks nothing is presumed to succeed.
    """
    if isinstance(condition, bool):
        return condition
    if isinstance(condition, Ran):
        return (
            state.statuses.get(id(condition.simple)) if condition.name in state.functions else _ran(condition, presumes)
        )
    if isinstance(condition, Not):
        is_joined = isinstance(condition.condition, Joined)
        return _opposite(holds(condition.condition, state, presumes=presumes and is_joined))
    if isinstance(condition, Test):
        return _test(list(condition.words), state, is_double=condition.is_double)
    return _joined(condition, state, presumes=presumes)


def _ran(command: Ran, presumes: bool) -> bool | None:
    """Whether a program is presumed to succeed: not one that is run to ask something, nor a script."""
    if command.name == RETURN:
        return False  # else the script does not come to what asks
    return True if presumes and command.name not in _ASKING and "/" not in command.name else None


def _joined(joined: Joined, state: ShellState, *, presumes: bool) -> bool | None:
    outcomes = [holds(each, state, presumes=presumes) for each in (joined.first, joined.second)]
    if joined.is_either in outcomes:
        return joined.is_either
    return None if None in outcomes else not joined.is_either


def _opposite(outcome: bool | None) -> bool | None:
    return None if outcome is None else not outcome


# Tests


def _test(words: list[RawWord], state: ShellState, *, is_double: bool) -> bool | None:
    """What `[ ... ]` says."""
    for joint, is_either in (("-o", True), ("-a", False)):
        at = next((n for n, word in enumerate(words) if word.literal == joint and 0 < n < len(words) - 1), None)
        if at is not None and not is_double:
            sides = (words[:at], words[at + 1 :])
            outcomes = [_test(side, state, is_double=is_double) for side in sides]
            return is_either if is_either in outcomes else None if None in outcomes else not is_either
    if len(words) > 1 and words[0].literal == "!":
        return _opposite(_test(words[1:], state, is_double=is_double))
    if not is_double:
        words = [word for word in words if not _vanishes(word, state)]
    if not words:
        return False
    if len(words) == 1:
        return _is_filled(words[0], state)
    if len(words) == 2:
        return _unary(words[0].literal, words[1], state)
    return _binary(words, state, is_double=is_double) if len(words) == 3 else None


def _vanishes(word: RawWord, state: ShellState) -> bool:
    """Whether a word becomes none: a variable without quotes that is empty."""
    is_bare = all(part.kind is PartKind.VARIABLE and not part.quoted for part in word.parts)
    return is_bare and state.value_of(word) == ""


def _is_filled(word: RawWord, state: ShellState) -> bool | None:
    value = state.value_of(word)
    return None if value is None else bool(value)


def _unary(asked: str | None, word: RawWord, state: ShellState) -> bool | None:
    if asked == "-n":
        return _is_filled(word, state)
    if asked == "-z":
        return _opposite(_is_filled(word, state))
    if asked == "-v":
        return state.is_set(word.text)
    return None if asked is not None and _FILE_TEST.fullmatch(asked) else False  # else what it compares is missing


def _binary(words: list[RawWord], state: ShellState, *, is_double: bool) -> bool | None:
    first, compares, second = words[0], words[1].literal or "", words[2]
    left = state.value_of(first)
    if compares in ("=", "==", "!="):
        right = state.value_of(second)
        same = _matches(left, second, state) if is_double else None if None in (left, right) else left == right
        return _opposite(same) if compares == "!=" else same
    right = state.value_of(second)
    by_number = _BY_NUMBER.get(compares)
    if by_number is None or left is None or right is None:
        return None
    if not _NUMBER.fullmatch(left) or not _NUMBER.fullmatch(right):
        return False
    return by_number(int(left), int(right))


def _matches(value: str | None, word: RawWord, state: ShellState) -> bool | None:
    """Whether a value matches a pattern: what is quoted of that stands for itself."""
    if is_anything(word):
        return True
    glob = ""
    for part in word.parts:
        text = state.value_of(RawWord([part]))
        if text is None:
            return None
        glob += _MAGIC.sub(r"[\g<0>]", text) if part.quoted else text.replace("[^", "[!")
    return None if value is None else fnmatchcase(value, glob)
