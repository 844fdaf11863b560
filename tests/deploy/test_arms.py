"""What the branches of a script depend on, and which commands it comes to."""

from __future__ import annotations

import pytest

from dllint.syntax.mapped import Mapped
from dllint.syntax.shell import simple_commands

CASE = 'case "$1" in\n  a|b) one;;\n  $X) two ;;\n  *) three\nesac\nfour'
IF = 'if [ "$1" = a ]; then one; elif [[ $1 == "b" ]]; then two; else three; fi; four'


def arms(text: str) -> dict[str, list[tuple[str, list[str], list[str]]]]:
    found = [simple for simple in simple_commands(Mapped(text)) if simple.words and simple.words[0].text != "["]
    return {simple.words[0].text: [(arm.subject, arm.patterns, arm.before) for arm in simple.arms] for simple in found}


def test_cases() -> None:
    assert arms(CASE) == {
        "one": [("$1", ["a", "b"], [])],
        "two": [("$1", ["$X"], ["a", "b"])],
        "three": [("$1", ["*"], ["a", "b", "$X"])],
        "four": [],
    }


def test_branches() -> None:
    assert arms(IF) == {
        "one": [("$1", ["a"], [])],
        "two": [("$1", ["b"], ["a"])],
        "three": [("$1", ["*"], ["a", "b"])],
        "four": [],
    }


@pytest.mark.parametrize(
    "condition",
    [
        '! [ "$1" = a ]',
        '! [ -z "$1" ]',
        '[ -f "$1" ]',
        '[ "$1" != "$2" ]',
        '[ "$1" = a ] && true',
        "true",
        '[[ ! "$1" == a ]]',
        "grep -q a",
    ],
)
def test_conditions_of_another_kind(condition: str) -> None:
    found = arms(f"if {condition}; then one; else two; fi")
    assert [found[name][0][0] for name in ("one", "two")] == ["", ""]


@pytest.mark.parametrize(
    ("condition", "then", "otherwise"),
    [
        ('[ "$1" != a ]', (["*"], ["a"]), (["a"], [])),
        ('[[ $1 != "a" ]]', (["*"], ["a"]), (["a"], [])),
        ('[ -z "$1" ]', ([""], []), (["*"], [""])),
        ("[[ -n $1 ]]", (["?*"], []), (["*"], ["?*"])),
        ("[ $# -eq 0 ]", ([""], []), (["*"], [""])),
        ('[ "$#" -lt 1 ]', ([""], []), (["*"], [""])),
        ("[[ $# -gt 0 ]]", (["?*"], []), (["*"], ["?*"])),
        ('[ "${#}" -ge 1 ]', (["?*"], []), (["*"], ["?*"])),
    ],
)
def test_conditions_that_compare(
    condition: str, then: tuple[list[str], list[str]], otherwise: tuple[list[str], list[str]]
) -> None:
    found = arms(f"if {condition}; then one; else two; fi")
    assert found == {"one": [("$1", *then)], "two": [("$1", *otherwise)]}


def test_what_follows_a_test_for_what_something_is_not_is_unknown() -> None:
    found = arms('if [ "$1" != a ]; then one; elif [ "$1" = b ]; then two; else three; fi')
    assert [found[name][0][0] for name in ("one", "two", "three")] == ["$1", "", ""]


def test_only_arms_decide() -> None:
    text = 'a && b\nif [ "$1" = x ]; then c; fi\nfor i in 1; do d; done\nf() { e; for i in 1; do h; done; }\ng'
    chosen = {simple.words[0].text: simple.is_chosen for simple in simple_commands(Mapped(text)) if simple.words}
    assert [name for name in "abcdegh" if chosen[name]] == ["a", "c", "e", "g"]


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
    functions = {simple.words[0].text: simple.function for simple in simple_commands(Mapped(text)) if simple.words}
    assert (functions["one"], functions["two"]) == ("f", "")


@pytest.mark.parametrize(
    ("before", "subject"),
    [
        ("", "$mode"),
        ("mode=${1:-a}", "${1:-a}"),
        ("mode=$1; other=$2", "$1"),
        ("export mode=${MODE:-a}", "${MODE:-a}"),
        (': "${mode:=a}"', "${mode:=a}"),
        ("mode=a; mode=$(pick)", "$(pick)"),
        ("mode=a; if true; then mode=b; fi", "$(...)"),
        ("true && mode=b", "$(...)"),
        ("for mode in a b; do true; done", "$(...)"),
        ("read -r mode", "$(...)"),
        ("source ./settings", "$(...)"),
        ("source ./settings; mode=a", "a"),
        ("f() { mode=b; }; f", "$(...)"),
    ],
)
def test_where_the_value_stems_from_that_is_compared(before: str, subject: str) -> None:
    found = arms(f'{before}\ncase "$mode" in a) one;; esac')
    assert found["one"] == [(subject, ["a"], [])]


def test_what_a_function_is_given_is_not_what_the_script_is_given() -> None:
    within = arms('f() { local mode=$1; case "$mode" in a) one;; esac; }')
    across = arms('mode=$1; f() { case "$mode" in a) one;; esac; }')
    assert (within["one"][0][0], across["one"][0][0]) == ("$1", "$(...)")


@pytest.mark.parametrize(
    "text", ["esac fi else then", "case a in b) case c", "if if then fi else elif", "[[ fi ]] then"]
)
def test_never_raises(text: str) -> None:
    simple_commands(Mapped(text))
