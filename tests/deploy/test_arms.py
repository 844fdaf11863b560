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
        '[ "$1" != a ]',
        '[ -z "$1" ]',
        '[ "$1" = a ] && true',
        "true",
        '[[ ! "$1" == a ]]',
        "grep -q a",
    ],
)
def test_conditions_of_another_kind(condition: str) -> None:
    found = arms(f"if {condition}; then one; else two; fi")
    assert [found[name][0][0] for name in ("one", "two")] == ["", ""]


def test_only_arms_decide() -> None:
    text = 'a && b\nif [ "$1" = x ]; then c; fi\nfor i in 1; do d; done\nf() { e; }\ng'
    chosen = {simple.words[0].text: simple.is_chosen for simple in simple_commands(Mapped(text)) if simple.words}
    assert [name for name in "abcdeg" if chosen[name]] == ["a", "c", "g"]


@pytest.mark.parametrize(
    "text", ["esac fi else then", "case a in b) case c", "if if then fi else elif", "[[ fi ]] then"]
)
def test_never_raises(text: str) -> None:
    simple_commands(Mapped(text))
