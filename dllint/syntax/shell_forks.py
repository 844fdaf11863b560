"""Where a shell script goes one of several ways, and what decides: `if`, `case`, `while`, and lists as `a && b`."""

from __future__ import annotations

from typing import NamedTuple

from dllint.records import dataclass, field
from dllint.syntax.shell_tree import RawWord, Simple

_MOST_JOINED = 50
"""Commands of one list `a && b || c` whose outcomes are kept."""
_TESTS = ("[", "test")
RETURN = "return"
"""What goes on behind it does so because it fails: outside of functions and sourced files."""


@dataclass(frozen=True, slots=True)
class Test:
    """`[ ... ]`, or with `is_double` a test within `[[ ... ]]`: the words between the brackets."""

    words: tuple[RawWord, ...]
    is_double: bool = False


@dataclass(frozen=True, slots=True)
class Ran:
    """A command of another kind, which may succeed or fail."""

    name: str = ""
    """Its program or function; `((` and `[[` for tests that are not taken apart."""
    simple: Simple | None = None


@dataclass(frozen=True, slots=True)
class Not:
    """`! a`."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class Joined:
    """`a && b`, or with `is_either` `a || b`."""

    first: Condition
    second: Condition
    is_either: bool


Condition = Test | Ran | Not | Joined | bool
"""What decides; True and False for the commands of these names."""


@dataclass(slots=True, eq=False)
class Fork:
    """A place from which a script goes one of several ways, of which the first counts that fits."""

    conditions: list[Condition] = field(default_factory=list)
    """Of an `if` and its kin: those of its ways. What is not gone into by any is the last way, `else`."""
    subject: RawWord | None = None
    """Of a `case`: what is compared."""
    patterns: list[list[RawWord]] = field(default_factory=list)
    """Of a `case`: those of its ways."""
    presumes: bool = False
    """Whether a command that asks nothing is presumed to succeed: `cd here && python train.py`."""
    items: list[RawWord] | None = None
    """Of a `for`: the words that it goes through; its body is the first way."""
    is_looped: bool = False
    """Whether it stands in a loop, so that another way may be gone from it each time."""
    is_mixed: bool = False
    """Whether a way of a `case` may go on into another one: `;&`, `;;&`."""
    failing: set[int] = field(default_factory=set)
    """The ways that end the script as one that failed: `exit 1`."""

    @property
    def count(self) -> int:
        """How many ways there are; the last one is what remains, if the others may leave anything."""
        if self.items is not None:
            return 2
        if self.subject is None:
            return len(self.conditions) + 1
        return len(self.patterns) + (not any(is_anything(each) for way in self.patterns for each in way))


class Way(NamedTuple):
    """One way from a fork."""

    fork: Fork
    number: int


def is_anything(pattern: RawWord) -> bool:
    """Whether a pattern of a `case` is that of all that is left."""
    return pattern.literal == "*"


@dataclass(slots=True)
class List:
    """A list that is being read: `a && b || c`."""

    condition: Condition = field(default_factory=Ran)
    """How what was read of it ends."""
    joint: str = ""
    """What joins the next command to it: `&&`, `||`."""
    is_negated: bool = False
    """Whether the next command stands behind `!`."""
    ways: tuple[Way, ...] = ()
    """What decides whether the next command runs."""
    is_plain: bool = True
    """Whether nothing else does."""
    length: int = 0

    def take(self, condition: Condition) -> None:
        """Take in how a command ends."""
        if self.is_negated:
            condition = Not(condition)
        self.length += 1
        if self.joint:
            condition = Joined(self.condition, condition, self.joint == "||") if self.length < _MOST_JOINED else Ran()
        self.condition = condition
        self.joint, self.is_negated, self.ways, self.is_plain = "", False, (), True

    def join(self, operator: str, *, is_looped: bool = False) -> None:
        """Take in `&&` or `||`: the next command runs where what was read succeeds, or fails."""
        self.joint = operator
        # `[ a ] && b || c`: an `if` with an `else`, as long as `b` does not fail.
        is_joined = isinstance(self.condition, Joined)
        fork = Fork([self.condition], presumes=True)
        if operator == "||":
            fork = Fork([Not(self.condition)], presumes=is_joined)
        fork.is_looped = is_looped
        self.ways, self.is_plain = (Way(fork, 0),), is_tested(self.condition)


def is_tested(condition: Condition) -> bool:
    """Whether a condition consists of tests alone."""
    if isinstance(condition, Not):
        return is_tested(condition.condition)
    if isinstance(condition, Joined):
        return is_tested(condition.first) and is_tested(condition.second)
    return not isinstance(condition, Ran) or condition.name == RETURN


def condition_of(simple: Simple) -> Condition:
    """How a command ends, as far as its words say."""
    name = simple.words[0].literal if simple.words else ":"
    if name in _TESTS:
        words = simple.words[1:]
        closes = bool(words) and words[-1].text == "]"
        return Test(tuple(words[:-1] if closes else words))
    return {"true": True, ":": True, "false": False}.get(name or "", Ran(name or "", simple))


def fails(simple: Simple) -> bool:
    """Whether a command ends the script as one that failed."""
    texts = [word.text for word in simple.words]
    return texts[:1] == ["exit"] and len(texts) == 2 and texts[1] != "0"


def double_test(words: list[RawWord]) -> Condition:
    """What `[[ ... ]]` tests, by the words between its brackets, where `&&` and `||` are words of their own."""
    tests = List()
    one: list[RawWord] = []
    for word in words:
        if word.literal in ("&&", "||"):
            tests.take(Test(tuple(one), is_double=True))
            tests.joint, one = word.literal, []
        else:
            one.append(word)
    tests.take(Test(tuple(one), is_double=True))
    return tests.condition
