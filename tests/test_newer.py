"""Which lines only a newer Python reads."""

from __future__ import annotations

import time

import pytest

from dllint.syntax.newer import needed


@pytest.mark.parametrize(
    ("line", "since"),
    [
        ("class Box[T]:", (3, 12)),
        ("    async def first[T](items: list[T]) -> T:", (3, 12)),
        ("type Pair = tuple[int, int]", (3, 12)),
        ("class Box[T = int]:", (3, 13)),
        ("""name = f"{rows["a"]}\"""", (3, 12)),
        ("""name = t"{rows}\"""", (3, 14)),
        ("    except* ValueError:", (3, 11)),
        ("    match point:", (3, 10)),
    ],
)
def test_newer_syntax_is_known_by_its_line(line: str, since: tuple[int, int]) -> None:
    assert needed(line, running=(3, 9)) == since
    assert needed(line, running=since) is None


@pytest.mark.parametrize(
    "line", ["print 'old'", "class Box(T:", "def f(x) return x", "x = f'{a}", "type = 3 +", "match = re."]
)
def test_other_faults_are_no_newer_syntax(line: str) -> None:
    assert needed(line, running=(3, 9)) is None


@pytest.mark.parametrize("line", ["f'" + "{" * 1000, "f'" + "{'" * 500, "class A[" + "x=" * 500])
def test_no_line_takes_long(line: str) -> None:
    start = time.process_time()
    needed(line, running=(3, 9))
    assert time.process_time() - start < 1
