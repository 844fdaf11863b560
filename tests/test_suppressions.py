"""Which comments switch which findings off."""

from __future__ import annotations

import codecs
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dllint import registry
from dllint.finding import Failure, Finding, Location, Severity
from dllint.rule import Rule
from dllint.suppressions import Suppressions
from dllint.syntax.python import Source


@pytest.fixture(autouse=True, scope="module")
def few_rules() -> object:
    """A registry of two rules, whatever rules there are."""
    rules = {
        code: Rule(code, name, Severity.WARNING, Failure.STALL, "0.1")
        for code, name in (("DLL201", "handle-in-init"), ("DLL501", "unguarded-main"))
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "listing", lambda: rules)
        yield


def finding(row: int, end_row: int | None = None, code: str = "DLL201") -> Finding:
    at = Location("a.py", row, 1, row if end_row is None else end_row, 2)
    return Finding(code, "", "", Severity.WARNING, Failure.STALL, at)


def read(text: str, *, python: bool = True) -> Suppressions:
    return Suppressions("a.py", Source("a.py", text.encode()).lines, python=python)


def covers(text: str, row: int = 1, end_row: int | None = None, *, code: str = "DLL201", python: bool = True) -> bool:
    return read(text, python=python).covers(finding(row, end_row, code))


# --- what a comment may say ---


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "#noqa",
        "# NoQA",
        "# noqa : DLL201",
        "# noqa: DLL201",
        "# noqa:DLL201",
        "# noqa: dll201",
        "# noqa: DLL2",
        "# noqa: DLL",
        "# noqa: E501,DLL201",
        "# noqa: E501, DLL201",
        "# noqa: E501 DLL201 opened again in the worker",
        "# noqa: opened again in the worker",
        "# type: ignore  # noqa: DLL201",
        "# dllint: ignore[DLL201]",
        "# dllint: ignore[handle-in-init] opened again in the worker",
        "# dllint: ignore[DLL501, handle-in-init]",
        "# dllint:ignore[dll2]",
        "# dllint: ignore",
        "# dllint: ignore opened again in the worker",
        "# dllint: ignore DLL201",
        "# dllint: ignore: DLL501, DLL201 opened again",
        "# DLLINT: IGNORE [DLL201]",
        "# noqa: E501  # dllint: ignore[DLL201]",
    ],
)
def test_a_comment_on_the_line_switches_off(comment: str) -> None:
    assert covers(f"x = open(p)  {comment}\n")


@pytest.mark.parametrize(
    "comment",
    [
        "# a comment",
        "# noqa: DLL501",
        "# noqa: E501",
        "# noqa: DLL2011",
        "# noqa-like",
        "# see the docs of noqa",
        "# flake8: noqa",
        "# dllint: ignore[DLL501]",
        "# dllint: ignore DLL501",
        "# dllint: ignore[DLL201",
        "# dllint: ignore-next",
        "# dllint: ignored",
        "# dllint: ignore[]",
        "# dllint: ignore[DLL999]",
        "# dllint: ignored[DLL201]",
    ],
)
def test_other_comments_do_not(comment: str) -> None:
    assert not covers(f"x = open(p)  {comment}\n")


def test_skip_file_switches_off_everything() -> None:
    text = "x = 1\n\n# dllint: skip-file - generated\ny = 2\n"
    assert covers(text, 1) and covers(text, 4, code="DLL501")


# --- where a comment counts ---


def test_any_line_that_the_finding_spans_counts() -> None:
    text = "a = 1\nx = f(\n    1,\n    2,  # noqa: DLL201\n)\nb = 2\n"
    assert covers(text, 2, 5)
    assert not covers(text, 1)
    assert not covers(text, 6)


def test_the_whole_statement_counts_for_a_finding_on_one_of_its_lines() -> None:
    text = "x = f(\n    1,\n    2,\n)  # noqa: DLL201\n"
    assert covers(text, 2)


def test_a_comment_alone_on_the_line_above_counts() -> None:
    assert covers("# dllint: ignore[DLL201] opened again\nx = open(p)\n", 2)
    assert covers("def f():\n\t# noqa: DLL201\n\tx = open(p)\n", 3)


def test_comments_alone_stack() -> None:
    text = "# dllint: ignore[DLL201] because the worker\n# opens it again\n# dllint: ignore[DLL501]\nx = open(p)\n"
    assert covers(text, 4) and covers(text, 4, code="DLL501")


def test_a_comment_further_up_or_behind_code_does_not_count() -> None:
    assert not covers("# noqa: DLL201\n\nx = open(p)\n", 3)
    assert not covers("y = 1  # noqa: DLL201\nx = open(p)\n", 2)


def test_a_comment_inside_a_string_is_none() -> None:
    assert not covers("x = '# noqa: DLL201'\n")
    assert not covers('"""\n# dllint: skip-file\n"""\nx = 1\n', 4)
    assert not covers("x = f'''\n# noqa\n{y}'''\n", 1, 3)


def test_in_broken_python_comments_still_count() -> None:
    assert covers("x = (\n'''\n\ny = open(p)  # noqa: DLL201\n", 4)
    assert covers("if x:\n      y\n   z\nw = open(p)  # noqa: DLL201\n", 4)


def test_in_other_languages_a_hash_after_a_space_begins_a_comment() -> None:
    assert covers("image: torch  # noqa: DLL201\n", python=False)
    assert covers("# dllint: ignore[DLL201]\nFROM torch\n", 2, python=False)
    assert not covers("image: 'a # noqa'\n", python=False)
    assert not covers("image: a#noqa\n", python=False)


# --- what suppressed nothing ---


Unused = tuple[str, int, int, bool]


def unused(text: str, *used_at: Finding, ran: tuple[str, ...] = ("DLL201", "DLL501")) -> list[Unused]:
    suppressions = read(text)
    for item in used_at:
        assert suppressions.covers(item)
    return [(item.selector, item.row, item.column, item.known) for item in suppressions.unused(set(ran))]


def test_what_suppressed_nothing_is_unused() -> None:
    assert unused("x = 1  # noqa: DLL201\n") == [("DLL201", 1, 16, True)]
    assert unused("x = 1  # dllint: ignore[DLL501, handle-in-init]\n", finding(1)) == [("DLL501", 1, 25, True)]
    assert unused("# dllint: ignore[DLL201]\n# why\nx = 1\n") == [("DLL201", 1, 18, True)]


def test_what_suppressed_something_is_used() -> None:
    assert unused("x = 1  # noqa: DLL2\n", finding(1)) == []
    assert unused("# dllint: ignore[DLL201]\n# why\nx = 1\n", finding(3)) == []


def test_a_code_that_no_rule_has_is_unused() -> None:
    assert unused("x = 1  # dllint: ignore[DLL999]\n") == [("DLL999", 1, 25, False)]


def test_codes_of_others_bare_ones_and_rules_that_did_not_run_are_not_judged() -> None:
    assert unused("x = 1  # noqa\n") == []
    assert unused("x = 1  # noqa: E501\n") == []
    assert unused("x = 1  # noqa: DLL501\n", ran=("DLL201",)) == []


# --- bytes ---

FILLER = st.sampled_from(["x = 1", "", "# comment", "s = 'ä # noqa'", "if x:\n\tpass", "z = (1,\n  2)", "t = '''\n'''"])
ENCODINGS = st.sampled_from(["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-8-broken"])


def encode(text: str, encoding: str) -> bytes:
    if encoding == "utf-8-sig":
        return codecs.BOM_UTF8 + text.encode()
    if encoding == "utf-8-broken":
        return text.replace("ä", "\udce4").encode("utf-8", "surrogateescape")
    return (f"# -*- coding: {encoding} -*-\n{text}").encode(encoding)


@given(
    before=st.lists(FILLER, max_size=4),
    after=st.lists(FILLER, max_size=3),
    encoding=ENCODINGS,
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    space=st.sampled_from(["", " ", "\t", " \t "]),
    above=st.booleans(),
)
def test_line_ends_tabs_marks_and_encodings_do_not_matter(
    before: list[str], after: list[str], encoding: str, end: str, space: str, above: bool
) -> None:
    comment = "# dllint: ignore[DLL201] ä"
    marked = [comment, "bad()"] if above else [f"bad(){space}{comment}"]
    text = "\n".join([*before, *marked, *after, "bad()", ""])
    data = encode(text, encoding).replace(b"\n", end.encode())
    lines = Source("a.py", data).lines
    first, last = (row for row, line in enumerate(lines, 1) if line.startswith("bad()"))
    suppressions = Suppressions("a.py", lines, python=True)
    assert suppressions.covers(finding(first))
    assert not suppressions.covers(finding(last))


def test_a_long_stack_of_comments_is_read_in_time() -> None:
    lines = ["# dllint: ignore[DLL405]"] * 50_000 + ["DataLoader(d, num_workers=-1)"]
    begun = time.perf_counter()
    Suppressions("a.py", lines, python=True)
    assert time.perf_counter() - begun < 5
