"""Each fixture is reported as its labels say: every label is met, and nothing else is reported."""

from __future__ import annotations

import pytest

from harness import FIXTURES, Case, Label, cases, is_case, lint_case, split_labels

CASES = cases()


def case_id(case: Case) -> str:
    return case.source.relative_to(FIXTURES).as_posix()


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_fixture(case: Case) -> None:
    code = case.source.parent.name
    missed, unasked = lint_case(case, [code] if code.startswith("DLL") else [])
    assert not missed, f"asked for, not reported: {sorted(missed)}"
    assert not unasked, "reported, not asked for:\n" + "\n".join(unasked)
    if case.source.name.startswith("bad_"):
        assert code in {label.code for label in case.labels}, "a bad fixture needs a label with the code of its folder"
    if case.source.name.startswith("good_"):
        assert not case.labels, "a good fixture has no labels: it must be silent"


def test_every_entry_of_a_rule_folder_is_a_fixture() -> None:
    kinds = ("bad_", "good_", "fix_", "__pycache__")
    strays = [path for path in FIXTURES.glob("DLL*/*") if not path.name.startswith(kinds)]
    assert not strays, f"a fixture that no test reads: {strays}"


def test_the_showcase_holds_faults_of_all_families() -> None:
    case = Case(FIXTURES / "showcase")
    missed, _ = lint_case(case, [])
    assert not missed
    assert {label.code[:4] for label in case.labels} >= {"DLL1", "DLL2", "DLL3", "DLL4", "DLL5", "DLL6"}


@pytest.mark.parametrize(
    ("text", "rows", "stripped"),
    [
        (b"x = 1  # expect: DLL201\n", [(1, "DLL201")], b"x = 1\n"),
        (b"a\r\nb  # expect: DLL201, DLL502\r\n", [(2, "DLL201"), (2, "DLL502")], b"a\r\nb\r\n"),
        (b"x  # expect-opt-in: DLL302", [(1, "DLL302")], b"x"),
        (b'key "\xff"  // expect: DLL201', [(1, "DLL201")], b'key "\xff"'),
        (b"# about the label expect: DLL201 here\n", [], b"# about the label expect: DLL201 here\n"),
    ],
)
def test_labels_are_read_and_taken_out(text: bytes, rows: list[tuple[int, str]], stripped: bytes) -> None:
    assert split_labels("f", text) == ([Label("f", row, code) for row, code in rows], stripped)


def test_only_good_and_bad_are_cases() -> None:
    assert [is_case(FIXTURES / name) for name in ("bad_x.py", "good_x", "fix_x.py")] == [True, True, False]
