"""What a shell that goes through a script knows at a point of it: its variables, and what it was passed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from dllint.deploy.environment import Environment
from dllint.patterns import pattern
from dllint.syntax.shell_tree import Assignment, Part, PartKind, RawWord, Simple, assigned

_ALL = ("$@", "$*", "${@}", "${*}")
_PASSED = pattern(r"\$(?:(\d)|\{(\d)\})")
DECLARING = frozenset({"export", "local", "declare", "readonly", "typeset"})
"""Commands that set variables by words such as `NAME=value`."""
READING = frozenset({"read", "getopts", "mapfile", "readarray"})
"""Commands that give the variables they name what they read."""
_OWN = frozenset({"local", "declare", "typeset"})
"""These give a function a variable of its own."""
_CHANGING = pattern(r"-\w*[lunAai]")
"""Options of `declare` by which a value becomes another one than is written."""
_SETTING_UNSEEN = READING | {"unset", "printf", "let"}
_UNSEEN_WORDS = frozenset({"eval", "source", "."})
_DEFAULTS = (":-", "-", ":=", "=")
_PART = pattern(r" ?(\d{1,4})(?::(\d{1,4}))?")
"""Behind the colon of `${NAME:1:2}`: from where, and how many characters."""
_LONGEST_CUT = 500
_MOST_PASSED = 1_000
"""Words of `"$@"` that are followed."""
_LONGEST = 5_000
"""Characters of a value that is followed."""


class ShellState:
    """The variables of a shell and its positional parameters; a value that cannot be known is None."""

    def __init__(self, environment: Environment, passed: Sequence[str]) -> None:
        self._environment = environment
        self._scopes: list[dict[str, str | None]] = [{}]
        """What the script sets, in each subshell around."""
        self._exported: set[str] = set()
        self._is_open = False
        """Whether something unseen may have set any variable."""
        self.passed = list(passed)
        """What the script or its function is passed, as far as it is left."""
        self.is_passed_known = True
        self.functions: set[str] = set()
        """The functions that the script defines."""
        self.statuses: dict[int, bool | None] = {}
        """How the calls of these end, by the ids of the commands; None where nobody sees it."""
        self._kept: dict[str, str | None] = {}
        """What variables held before the function that is being run made them its own."""

    # Values

    def value_of(self, word: RawWord) -> str | None:
        """What a word gives; None where that cannot be known."""
        found: list[str] = []
        for part in word.parts:
            value = self._part(part)
            if value is None:
                return None
            found.append(value)
        return "".join(found)

    def is_set(self, name: str) -> bool | None:
        """Whether a variable has a value, be it empty."""
        if name in self._scopes[-1] or name in self._environment.values:
            return True
        return None if self.variable(name) is None else False

    def variable(self, name: str) -> str | None:
        """The value of a variable; empty where it is not set."""
        if name in self._scopes[-1]:
            return self._scopes[-1][name]
        return None if self._is_open else self._environment.get(name)

    def _part(self, part: Part) -> str | None:
        if part.kind is PartKind.TEXT:
            return part.source.text
        if part.kind is PartKind.SUBSTITUTION:
            return None
        if part.name == "#" and part.source.text not in ("$#", "${#}"):
            return None  # the length of a value
        value = self._named(part.name)
        default = part.default if part.default is not None else RawWord()
        if part.operator in ("", ":?", "?"):
            return value
        if part.operator in (*_DEFAULTS, ":+", "+"):
            is_filled = self._is_filled(part, value)
            if is_filled is None:
                return None
            if part.operator in (":+", "+"):
                return self.value_of(default) if is_filled else ""
            return value if is_filled else self.value_of(default)
        return None if value is None else _edited(value, part.operator, self.value_of(default))

    def _is_filled(self, part: Part, value: str | None) -> bool | None:
        """Whether a variable has what counts for its default: any value, or with a colon one that is not empty."""
        if part.operator.startswith(":") or not part.name.isidentifier():
            return None if value is None else bool(value)
        return self.is_set(part.name)

    def lacks(self, simple: Simple) -> bool:
        """Whether a step asks for a variable that certainly has no value: `: "${MODE:?}"` ends the script."""
        asked = (part for word in simple.words for part in word.parts if part.operator in (":?", "?"))
        return any(self._is_filled(part, self._named(part.name)) is False for part in asked)

    def _named(self, name: str) -> str | None:
        """The value of a variable or a positional parameter."""
        if name[0].isalpha() or name[0] == "_":
            return self.variable(name)
        is_whole = self.is_passed_known and not any(map(_is_unseen, self.passed))
        if name == "#":
            return str(len(self.passed)) if is_whole else None
        if name in ("@", "*"):
            return " ".join(self.passed) if is_whole else None
        if not name.isdecimal() or name == "0" or not self.is_passed_known:
            return None
        before = self.passed[: int(name)]
        if any(map(_is_unseen, before)):
            return None
        return before[-1] if len(before) == int(name) else ""

    def put_into(self, words: Sequence[str]) -> list[str]:
        """Words with what is passed and what variables hold in the place of these, where that is known; one empty word
        where `"$@"` is all of it, and nobody sees any."""
        found: list[str] = []
        for word in words:
            one = _PASSED.fullmatch(word)
            number = int(one[1] or one[2]) if one is not None else 0
            if word in _ALL:
                found += self.passed
            else:
                found.append(self.passed[number - 1] if 0 < number <= len(self.passed) else word)
        return self.environment().put_into(found) or [""]

    def environment(self) -> Environment:
        """The variables that can be seen here, those that only the script itself sees too."""
        return Environment({**self._environment.values, **self._scopes[-1]}, self._environment.is_open or self._is_open)

    def inner_environment(self, simple: Simple | None) -> Environment:
        """The variables that a program finds which a command of the script starts."""
        handed = self._exported | set(self._environment.values)
        found = {name: value for name, value in self._scopes[-1].items() if name in handed}
        for given in simple.assignments if simple is not None else ():
            found[given.name] = self._given(given)
        is_open = self._environment.is_open or self._is_open
        return Environment({**self._environment.values, **found}, is_open)

    def words_of(self, raw: Sequence[RawWord]) -> list[str] | None:
        """The words that words become, with all variables put in; None where one of these is not known."""
        found: list[str] = []
        for word in raw:
            spread = self._spread(word)
            if spread is None:
                return None
            found += spread
        return found

    def _spread(self, word: RawWord) -> list[str] | None:
        """The words that one becomes: `"$@"` all that is passed, a variable without quotes as many as it holds."""
        part = next((part for part in word.parts if part.name in ("@", "*")), None)
        if part is not None and self.passed and self.is_passed_known and part.operator in ("", *_DEFAULTS):
            others = any(other.source.text for other in word.parts if other is not part)
            return None if others else list(self.passed)
        value = self.value_of(word)
        if value is None:
            return None
        is_bare = any(part.kind is PartKind.VARIABLE and not part.quoted for part in word.parts)
        return value.split() if is_bare or part is not None else [value]

    # Steps

    def enter(self, depth: int) -> None:
        """Come to a step that stands in so many subshells: what they set, only they see."""
        del self._scopes[depth + 1 :]
        while len(self._scopes) <= depth:
            self._scopes.append(dict(self._scopes[-1]))

    def call(self, passed: list[str]) -> tuple[list[str], bool, dict[str, str | None]]:
        """Enter a function, which is passed other words; what `leave` is given afterwards."""
        outer = self.passed, self.is_passed_known, self._kept
        self.passed, self.is_passed_known, self._kept = passed, True, {}
        return outer

    def leave(self, outer: tuple[list[str], bool, dict[str, str | None]]) -> None:
        """Leave a function: what it declared its own is what it was before."""
        for name, value in self._kept.items():
            self._scopes[-1][name] = value
        self.passed, self.is_passed_known, self._kept = outer

    def heed(self, simple: Simple, *, is_certain: bool) -> None:
        """Take in what a step sets; of one that may be left out or come to again, the values are unknown."""
        name = simple.words[0].text if simple.words else ""
        if name in _OWN and simple.function:
            names = [word.text.partition("=")[0] for word in simple.words[1:]]
            self._kept = {**{each: self.variable(each) for each in names}, **self._kept}
        for given in _assignments(simple):
            self._scopes[-1][given.name] = self._given(given) if is_certain else None
        if name in DECLARING and any(_CHANGING.match(word.text) for word in simple.words[1:2]):
            self._scopes[-1].update({word.text.partition("=")[0]: None for word in simple.words[2:]})
        for each in _set_unseen(simple):
            self._scopes[-1][each] = None
        if name == "unset" and is_certain:
            self._scopes[-1].update({word.text: "" for word in simple.words[1:]})
        if name == "export" or (name in DECLARING and any(word.text.startswith("-x") for word in simple.words[1:2])):
            self._exported |= {word.text.partition("=")[0] for word in simple.words[1:]}
        if name == "set" and any(word.text in ("-a", "allexport") for word in simple.words[1:]):
            self._is_open = True

    def open(self) -> None:
        """Something unseen may set any variable."""
        self._is_open = True
        for scope in self._scopes:
            scope.clear()

    def pass_on(self, simple: Simple, words: Sequence[str], *, is_certain: bool) -> None:
        """Take in `shift` or `set -- ...`; a default, under a condition that nobody sees, counts where nothing is
        passed."""
        if words[0] == "shift":
            number = int(words[1]) if len(words) > 1 and words[1].isdecimal() else 1
            is_enough = number <= len(self.passed)  # else it fails, and changes nothing
            self.passed = self.passed[number:] if is_certain and is_enough else self.passed
        elif words[1:2] == ["--"] and (is_certain or not self.passed):
            seen = self.words_of(simple.words[2:])
            given = seen if seen is not None else [word for word in self.put_into(words[2:]) if word]
            self.passed = given[:_MOST_PASSED]
            self.is_passed_known = self.is_passed_known and len(given) <= _MOST_PASSED
            return
        elif words[1:2] != ["--"]:
            return
        self.is_passed_known = self.is_passed_known and is_certain

    def _given(self, given: Assignment) -> str | None:
        """What an assignment gives."""
        if given.is_array or len(given.items) > 1:
            return None
        value = self.value_of(given.items[0]) if given.items else ""
        before = self.variable(given.name) if given.adds else ""
        known = None if value is None or before is None else before + value
        return known if known is None or len(known) < _LONGEST else None


def _edited(value: str, operator: str, given: str | None) -> str | None:
    """What a variable gives by way of an operator that takes a part of its value, or changes its letters."""
    if operator in (",,", "^^"):
        return value.lower() if operator == ",," else value.upper()
    if given is None:
        return None
    if operator == ":":
        found = _PART.fullmatch(given)
        end = int(found[1]) + int(found[2]) if found is not None and found[2] else None
        return value[int(found[1]) : end] if found is not None else None
    lengths = range(len(value) + 1) if len(value) < _LONGEST_CUT else ()
    if operator in ("#", "##"):
        cuts = [value[n:] for n in lengths if fnmatchcase(value[:n], given)]
        return next(iter(cuts if operator == "#" else cuts[::-1]), value)
    if operator in ("%", "%%"):
        cuts = [value[:n] for n in lengths if fnmatchcase(value[n:], given)]
        return next(iter(cuts[::-1] if operator == "%" else cuts), value)
    return None


def _is_unseen(word: str) -> bool:
    """Whether a word that is passed is not known: one that stands for a variable of whoever starts it is empty."""
    return not word or "$" in word


def opens(simple: Simple) -> bool:
    """Whether a step may set any variable."""
    return bool(simple.words) and simple.words[0].text in _UNSEEN_WORDS


def _assignments(simple: Simple) -> Iterator[Assignment]:
    """What a step assigns: `A=1`, `local A=1`, `: "${A:=1}"`."""
    if not simple.words:
        yield from simple.assignments
        return
    name = simple.words[0].text
    for word in simple.words:
        yield from _defaults(word)
    if name in DECLARING:
        yield from (each for word in simple.words[1:] if (each := assigned(word)) is not None)


def _defaults(word: RawWord) -> Iterator[Assignment]:
    """What the variables of a word assign to themselves."""
    for part in word.parts:
        if part.kind is PartKind.VARIABLE and part.operator in (":=", "="):
            yield Assignment(part.name, False, [RawWord([part])])


def _set_unseen(simple: Simple) -> Iterable[str]:
    """The variables that a step gives a value nobody sees."""
    if simple.looped:
        return (simple.looped,)
    texts = [word.text for word in simple.words]
    if not texts or texts[0] not in _SETTING_UNSEEN:
        return ()
    return [text.partition("=")[0].strip("+-*/ ") for text in texts[1:] if not text.startswith("-")]
