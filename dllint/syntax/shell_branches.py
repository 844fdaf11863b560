"""What the branches of a shell script compare: the conditions of `if`, and where the value that they ask for stems
from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dllint.patterns import pattern
from dllint.records import dataclass, field
from dllint.syntax.shell_tree import UNSEEN, Arm, Assignment, RawWord, Simple, assigned

_EQUALS = pattern(r"""\s*"?(\$[^\s"]+)"?\s+==?\s+["']?([^\s"'$`]+)["']?\s*""")
"""What is tested, in `[ "$1" = serve ]`."""
_DIFFERS = pattern(r"""\s*"?(\$[^\s"]+)"?\s+!=\s+["']?([^\s"'$`]+)["']?\s*""")
_FILLED = pattern(r"""\s*(-[nz])\s+"?(\$[^\s"]+)"?\s*""")
_COUNTED = pattern(r"""\s*"?\$(?:\#|\{\#\})"?\s+(?:(-eq)\s+"?0|-lt\s+"?1|(?:-ne|-gt)\s+"?0|-ge\s+"?1)"?\s*""")
"""Whether anything is passed: `[ $# -eq 0 ]`; the group is one of the tests for nothing."""
_VARIABLE = pattern(r"\$\{?([A-Za-z_]\w*)\}?")
_POSITIONAL = pattern(r"\$\{?[\d@*#]")
_READING = frozenset({"read", "getopts", "mapfile", "readarray"})
_SOURCING = frozenset({"source", "."})
_DECLARING = frozenset({"export", "local", "declare", "readonly", "typeset"})


@dataclass(slots=True)
class Choice:
    """An `if` that is being read."""

    arm: Arm = field(default_factory=lambda: Arm(""))
    """The branch that was begun last."""
    is_first: bool = True
    is_tested: bool = True
    """Whether its condition is read."""
    start: int = 0
    """How many commands were found before its condition."""
    text: str = ""
    """What stands in `[[ ]]`; `!` before any other condition."""
    otherwise: Arm | None = None
    """The branch of `else`, of a test for what something is not."""

    def begin(self, found: Sequence[Simple], here: Simple) -> None:
        """The branch behind a condition begins: of `[ "$1" = serve ]` the arm of `serve`."""
        self.is_tested = False
        text = self._condition([test.words for test in found[self.start :]])
        if self.is_first:
            self.otherwise = _differing(text, found, here)
            self.arm = _without(self.otherwise) if self.otherwise is not None else _compared(text, found, here)
        else:
            compared = _compared(text, found, here)
            is_more = self.otherwise is None and compared.subject == self.arm.subject
            self.otherwise = None
            self.arm = self.arm.next(*compared.patterns) if is_more else Arm("")
        self.is_first = False

    def begin_else(self) -> None:
        """The branch begins that is gone into where no condition holds."""
        self.is_tested = False
        self.arm = self.otherwise or self.arm.next("*")

    def _condition(self, tests: Sequence[list[RawWord]]) -> str:
        """The text of a condition that is one test, without its brackets; empty for another."""
        if not tests:
            return self.text
        is_test = len(tests) == 1 and not self.text and tests[0] and tests[0][0].literal in ("[", "test")
        return " ".join(word.text for word in tests[0][1:]).removesuffix("]") if is_test else ""


def _differing(text: str, found: Sequence[Simple], here: Simple) -> Arm | None:
    """The arm of what a test asks something not to be; None for another test."""
    differs = _DIFFERS.fullmatch(text)
    return Arm(origin(differs[1], found, here), [differs[2]]) if differs is not None else None


def _without(arm: Arm) -> Arm:
    """The arm of everything else."""
    return Arm(arm.subject, ["*"], arm.patterns)


def _compared(text: str, found: Sequence[Simple], here: Simple) -> Arm:
    """The arm of a test for what something is, or whether it is anything."""
    equals, filled = _EQUALS.fullmatch(text), _FILLED.fullmatch(text)
    if equals is not None:
        return Arm(origin(equals[1], found, here), [equals[2]])
    if filled is not None:
        return Arm(origin(filled[2], found, here), ["?*" if filled[1] == "-n" else ""])
    counted = _COUNTED.fullmatch(text)
    if counted is not None:
        return Arm("$1", ["" if counted[1] or "-lt" in text else "?*"])
    return Arm("")


def origin(subject: str, found: Sequence[Simple], here: Simple) -> str:
    """What is compared, by way of a variable that holds it: for `$mode`, behind `mode=${1:-serve}`, what it is given.

    `found` are the commands before the comparison, and `here` is one that stands where it does.
    """
    named = _VARIABLE.fullmatch(subject)
    if named is None:
        return subject
    for simple in reversed(found):
        if _sets_unseen(simple, named[1]):
            return UNSEEN
        given = next((each for each in _assignments(simple) if each.name == named[1]), None)
        if given is not None:
            return _value(given, simple, here)
    return subject


def _value(given: Assignment, simple: Simple, here: Simple) -> str:
    """What an assignment certainly gives to what stands here."""
    is_plain = not given.adds and not given.is_array and len(given.items) == 1
    if not is_plain or not simple.is_chosen or simple.arms != here.arms[: len(simple.arms)]:
        return UNSEEN
    text = given.items[0].text
    if simple.function != here.function and (simple.function or _POSITIONAL.search(text)):
        return UNSEEN  # what a function is given is not what the script is given
    return text


def _assignments(simple: Simple) -> Iterator[Assignment]:
    """What a command assigns: `A=1`, `local A=1`, `: "${A:=1}"`."""
    if not simple.words:
        yield from simple.assignments
        return
    name = simple.words[0].text
    if name == ":":
        parts = (part for word in simple.words for part in word.parts if part.operator in (":=", "="))
        yield from (Assignment(part.name, False, [RawWord([part])]) for part in parts)
    elif name in _DECLARING:
        yield from (each for word in simple.words[1:] if (each := assigned(word)) is not None)


def _sets_unseen(simple: Simple, name: str) -> bool:
    """Whether a command gives a variable a value that nobody sees."""
    texts = [word.text for word in simple.words]
    if simple.looped == name:
        return True
    return bool(texts) and (texts[0] in _SOURCING or (texts[0] in _READING and name in texts))
