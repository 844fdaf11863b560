"""No regular expression of dllint takes more than linear time for any line; the long run attacks them harder."""

from __future__ import annotations

import re

from expressions import Use, attacked, uses

USES = uses()


def test_no_expression_takes_for_ever() -> None:
    slow = {}
    for use in USES:
        found = attacked(use, length=20_000, most=0.15, mixtures=3)
        if found.seconds > 0.15:
            slow[f"{use.place}.{use.method}"] = found
    assert not slow


def test_all_expressions_are_found() -> None:
    places = " ".join(use.place for use in USES)
    for one in ("dllint.syntax.shell_words._PLAIN", "dllint.deploy.sizes._DOCKER", "dllint/deploy/evidence.py:"):
        assert one in places
    assert len(USES) > 250


def test_a_careless_expression_is_caught() -> None:
    assert attacked(Use("", re.compile(r"\s+$"), "search"), length=20_000, most=0.15).seconds > 0.15
    assert attacked(Use("", re.compile(r"(a|a)*b"), "match"), length=20_000, most=0.15).seconds > 0.15
