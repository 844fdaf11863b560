"""A pattern is what `re.compile` gives, compiled when it is first used."""

from __future__ import annotations

import re

import pytest

from dllint.patterns import pattern


def test_it_finds_what_a_compiled_one_finds() -> None:
    word = pattern(r"(?P<first>\w)\w*", re.IGNORECASE)
    assert word.findall("One two") == ["O", "t"]
    assert [found["first"] for found in word.finditer("One two")] == ["O", "t"]
    assert pattern(rb"b").findall(b"abb", 2) == [b"b"]
    assert word.pattern == r"(?P<first>\w)\w*"


def test_it_is_compiled_when_it_is_used() -> None:
    broken = pattern("(")
    with pytest.raises(re.error):
        broken.match("x")
