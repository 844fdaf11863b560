"""Where a script goes one of several ways, which way each command stands on, and which way is gone."""

from __future__ import annotations

import pytest

from dllint.deploy.environment import Environment
from dllint.deploy.shell_state import ShellState
from dllint.deploy.shell_tests import ways_taken
from dllint.syntax.mapped import Mapped
from dllint.syntax.shell import simple_commands
from dllint.syntax.shell_tree import Simple

CASE = 'case "$1" in\n  a|b) one;;\n  $X) two ;;\n  *) three\nesac\nfour'
IF = 'if [ "$1" = a ]; then one; elif [[ $1 == "b" ]]; then two; else three; fi; four'


def commands(text: str) -> dict[str, Simple]:
    found = [simple for simple in simple_commands(Mapped(text)) if simple.words and simple.words[0].text != "["]
    return {simple.words[0].text: simple for simple in found}


def numbers(text: str) -> dict[str, list[int]]:
    return {name: [way.number for way in simple.ways] for name, simple in commands(text).items()}


def is_come_to(
    text: str, command: str = "one", passed: str = "", given: dict[str, str | None] | None = None
) -> bool | None:
    """Whether the forks around a command lead to it."""
    state = ShellState(Environment(given or {}), passed.split())
    outcomes = [ways_taken(way.fork, state)[way.number] for way in commands(text)[command].ways]
    return False if False in outcomes else None if None in outcomes else True


@pytest.mark.parametrize("text", [CASE, IF])
def test_each_branch_is_a_way_of_one_fork(text: str) -> None:
    assert numbers(text) == {"one": [0], "two": [1], "three": [2], "four": []}
    assert len({simple.ways[0].fork for name, simple in commands(text).items() if name != "four"}) == 1


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (CASE, 3),
        ("case $1 in a) one;; esac", 2),
        ("case $1 in a) one;; b) two;; esac", 3),
        ("case $1 in '*') one;; esac", 2),
        (IF, 3),
        ("if a; then one; fi", 2),
        ("a && one", 2),
        ("[ a ] && one", 2),
        ("[ a ] && b || one", 2),
        ("while a; do one; done", 2),
    ],
)
def test_what_remains_is_a_way_too(text: str, count: int | None) -> None:
    ways = commands(text)["one"].ways
    assert [way.fork.count for way in ways] == ([] if count is None else [count])


@pytest.mark.parametrize(
    ("passed", "expected"),
    [("a", ["one"]), ("b", ["one"]), ("x", ["two"]), ("c", ["three"]), ("", ["three"])],
)
def test_a_case_goes_one_way(passed: str, expected: list[str]) -> None:
    assert [name for name in ("one", "two", "three") if is_come_to(CASE, name, passed, {"X": "x"})] == expected


@pytest.mark.parametrize(("passed", "expected"), [("a", ["one"]), ("b", ["two"]), ("c", ["three"]), ("", ["three"])])
def test_an_if_goes_one_way(passed: str, expected: list[str]) -> None:
    assert [name for name in ("one", "two", "three") if is_come_to(IF, name, passed)] == expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ('[ "$A" = 1 ]', True),
        ('[ 1 = "$A" ]', True),
        ('[ "x$A" = x1 ]', True),
        ('[ "$A" == 2 ]', False),
        ('[ "$A" != 2 ]', True),
        ('! [ "$A" = 1 ]', False),
        ('[ ! "$A" = 1 ]', False),
        ('[ -n "$A" ]', True),
        ('[ ! -n "$A" ]', False),
        ('[ -z "$NONE" ]', True),
        ('[ "$NONE" ]', False),
        ('[ "$NONE" = "" ]', True),
        ("[ -n $NONE ]", True),
        ("[ $NONE = 1 ]", False),
        ('[ "$A" -gt 0 ]', True),
        ('[ "$A" -ge 2 ]', False),
        ('[ "$WORD" -eq 0 ]', False),
        ('[ "$A" = 1 -a "$WORD" = no ]', False),
        ('[ "$A" = 1 -o "$WORD" = no ]', True),
        ('[ "$A" = 1 ] && [ "$WORD" = no ]', False),
        ('[ "$A" = 2 ] || [ "$WORD" = yes ]', True),
        ("[[ $A == 1 && $WORD == y* ]]", True),
        ('[[ $A == 2 || $WORD == "y*" ]]', False),
        ("[[ -v A ]]", True),
        ("[[ -v NONE ]]", False),
        ("test $A = 1", True),
        ("[ $# -eq 0 ]", True),
        ("[ $# -gt 0 ]", False),
        ('[ "${NONE:-1}" = "$A" ]', True),
        ('[ "${NONE:-${WORD}}" = yes ]', True),
        ('[ "${UPPER,,}" = yes ]', True),
        ('[ "${A:+set}" = set ]', True),
        ('[ "${WORD:0:1}" = y ]', True),
        ('[ "${WORD:1}" = es ]', True),
        ('[ "${WORD#y}" = es ]', True),
        ('[ "${WORD#-}" != "$WORD" ]', False),
        ('[ "${DOTS##*.}" = c ]', True),
        ('[ "${DOTS#*.}" = b.c ]', True),
        ('[ "${DOTS%.*}" = a.b ]', True),
        ('[ "${DOTS%%.*}" = a ]', True),
        ('[ "${WORD/e/a}" = yas ]', None),
        ("true", True),
        ("false", False),
        ('[ "$UNKNOWN" = 1 ]', None),
        ('[ "$UNKNOWN" = 1 ] && [ "$A" = 2 ]', False),
        ('[ "$UNKNOWN" = 1 ] || [ "$A" = 1 ]', True),
        ("[ -f done ]", None),
        ("[[ $WORD =~ ^y ]]", None),
        ("grep -q a b", None),
        ('check "$A"', None),
        ("(( A > 0 ))", None),
        ('[ "$(cat mode)" = a ]', None),
        ("[ $? -eq 0 ]", None),
    ],
)
def test_conditions(condition: str, expected: bool | None) -> None:
    given: dict[str, str | None] = {"A": "1", "WORD": "yes", "UPPER": "YES", "DOTS": "a.b.c", "UNKNOWN": None}
    opposite = None if expected is None else not expected
    text = f"if {condition}; then one; else two; fi"
    assert (is_come_to(text, "one", given=given), is_come_to(text, "two", given=given)) == (expected, opposite)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[ "$A" = 1 ] && one', True),
        ('[ "$A" = 1 ] || one', False),
        ('[ "$A" = 1 ] && two || one', False),
        ('[ "$A" = 2 ] && two || one', True),
        ('[ "$A" = 2 ] && { one; }', False),
        ('[ "$A" = 2 ] &&\n one', False),
        ("mkdir x && one", True),
        ("mkdir x || one", None),
        ('mkdir x && [ "$A" = 2 ] && one', False),
        ("! mkdir x && one", None),
        ('while [ "$A" = 2 ]; do one; done', False),
        ("while read line; do one; done", True),
        ('until [ "$A" = 1 ]; do one; done', False),
        ('case "$A" in 2) two;; esac; one', True),
        ('case "$A" in 1) two;;& *) one;; esac', None),
    ],
)
def test_lists_and_loops(text: str, expected: bool | None) -> None:
    assert is_come_to(text, given={"A": "1"}) is expected


def test_only_forks_decide() -> None:
    text = 'a && b\nif [ "$1" = x ]; then c; fi\nfor i in 1; do d; done\nf() { e; for i in 1; do h; done; }\ng'
    chosen = {name: simple.is_chosen for name, simple in commands(text).items()}
    assert [name for name in "abcdegh" if chosen[name]] == ["a", "c", "e", "g"]


def test_what_runs_apart() -> None:
    found = commands("one | two; three &\nfour && five")
    assert [name for name, simple in found.items() if simple.is_apart] == ["one", "two", "three"]


@pytest.mark.parametrize(
    "text",
    [
        "f() { one; }\ntwo",
        "f () {\none\n}\ntwo",
        "f()\n{\n  if true; then one; fi\n}\ntwo",
        "function f { one; }; two",
        "function f() { one | cat; }; two",
        "f() ( one )\ntwo",
        "f() { x=$(one); }\ntwo",
        "f() { for i in 1; do { one; }; done }\ntwo",
        "(f() { one; }; two)",
        "g() { f() { one; }; }\ntwo",
    ],
)
def test_bodies_of_functions(text: str) -> None:
    found = commands(text)
    assert (found["one"].function, found["two"].function) == ("f", "")


@pytest.mark.parametrize(
    "text",
    [
        "esac fi else then",
        "case a in b) case c",
        "if if then fi else elif",
        "[[ fi ]] then",
        "&& || ;; ;& )",
        "[[ a && ]]; [ ]; ! !",
        "{ ( { ) } )",
        "if " * 2_000,
        "{ " * 2_000 + ") " * 2_000,
        "a && " * 2_000,
    ],
)
def test_never_raises(text: str) -> None:
    for simple in simple_commands(Mapped(text)):
        for way in simple.ways:
            ways_taken(way.fork, ShellState(Environment(), ()))
