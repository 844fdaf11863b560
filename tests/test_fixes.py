"""Fixes: exactly the edits that were meant, every other byte as it was, and nothing worse than before."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dllint.cli import main
from dllint.files import Project, discover
from dllint.finding import Edit, Finding, Fix, Location
from dllint.fixes import Change, fix_all, write
from dllint.fixes.text import Text
from dllint.linter import Report, lint
from dllint.records import replace
from dllint.settings import Settings
from harness import FIXTURES, Case, cases, lint_texts, workspace

PAIRS = sorted(path for path in FIXTURES.glob("DLL*/fix_*.py") if not path.name.endswith(".fixed.py"))
HEAD = "from torch.utils.data import DataLoader\n"
FAULTY = f"{HEAD}loader = DataLoader([1], num_workers=0, prefetch_factor=2)\n"
FIXED = f"{HEAD}loader = DataLoader([1], num_workers=0)\n"
FAULTY_COMMENT = f"{HEAD}loader = DataLoader(\n    [1],\n    prefetch_factor=2,  # deep\n)\n"
FIXED_COMMENT = f"{HEAD}loader = DataLoader(\n    [1],\n)\n"

Captured = pytest.CaptureFixture[str]


def fix_folder(folder: Path, codes: Sequence[str] = (), *, unsafe: bool = True) -> tuple[Report, Report, list[Change]]:
    """What is reported before and after the fixes, and the changes; the files stay."""
    settings = replace(Settings(), select=tuple(codes)) if codes else Settings()
    reports = []

    def run(projects: Sequence[Project]) -> Report:
        reports.append(lint(projects, settings))
        return reports[-1]

    report, changes = fix_all(discover([str(folder)], settings), run, unsafe=unsafe)
    return reports[0], report, changes


def fixed(data: bytes, code: str, *, unsafe: bool = True) -> tuple[bytes, list[Finding]]:
    """A program after the fixes of one rule, and what the rule still reports."""
    with workspace() as folder:
        (folder / "program.py").write_bytes(data)
        _, report, changes = fix_folder(folder, [code], unsafe=unsafe)
    assert not report.errors, report.errors
    return (changes[0].after if changes else data), report.findings


# --- fixtures ---


@pytest.mark.parametrize("path", PAIRS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_fix_gives_exactly_the_fixed_file(path: Path) -> None:
    code = path.parent.name
    expected = path.with_suffix(".fixed.py").read_bytes()
    assert fixed(path.read_bytes(), code) == (expected, [])
    assert fixed(expected, code) == (expected, []), "applied again, it changes nothing"


def test_every_fixed_file_belongs_to_a_fixture() -> None:
    assert {path.with_suffix(".fixed.py") for path in PAIRS} == set(FIXTURES.glob("DLL*/fix_*.fixed.py"))


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.source.parent.name}/{case.source.name}")
def test_fixes_never_make_it_worse(case: Case) -> None:
    with workspace() as folder:
        case.unpack(folder)
        before, after, changes = fix_folder(folder)
    assert Counter(f.code for f in after.findings) <= Counter(f.code for f in before.findings)
    for change in changes:
        ast.parse(change.after)
    assert after.fixed <= len(before.findings)
    assert not [f for f in after.findings if f.fix], "what can be mended is mended in one go"


# --- removing an argument, in any layout ---

BLANKS = st.sampled_from(["", " ", "\n        ", "  # it's, (odd)\n        ", "\n\n    # above\n  ", " \\\n "])
ARGUMENTS = st.sampled_from(["pin_memory=True", "batch_size=(4)", "drop_last=f(1, 2)", "generator=[',', '(']"])


@st.composite
def calls(draw: st.DrawFn) -> str:
    """A call with `prefetch_factor` anywhere among the keywords, with comments and line breaks between everything."""
    others = draw(st.lists(ARGUMENTS, unique=True, max_size=3))
    others.insert(draw(st.integers(0, len(others))), "prefetch_factor=4")
    text = "".join(
        draw(BLANKS) + argument + draw(BLANKS) + ("," if number < len(others) or draw(st.booleans()) else "")
        for number, argument in enumerate(["(samples)", *others])
    )
    return f"{HEAD}loader = DataLoader({text}{draw(BLANKS)})\nrest = 1\n"


@settings(deadline=None)  # each example lints a folder
@given(calls(), st.sampled_from(["\n", "\r\n", "\r"]))
def test_an_argument_is_removed_from_any_layout(text: str, line_end: str) -> None:
    with workspace() as folder:
        (folder / "program.py").write_bytes(text.replace("\n", line_end).encode())
        before, report, changes = fix_folder(folder, ["DLL402"])
    assert (report.findings, report.fixed) == ([], 1)
    after = changes[0].after.decode()
    tree = ast.parse(text)
    call = next(node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args[0].__class__ is ast.Name)
    call.keywords = [keyword for keyword in call.keywords if keyword.arg != "prefetch_factor"]
    assert ast.dump(ast.parse(changes[0].after)) == ast.dump(tree)
    assert after.replace(line_end, "").count("\n") == 0 or line_end == "\n"
    if before.findings[0].fix and before.findings[0].fix.safe:
        assert after.count("#") == text.count("#"), "a safe fix loses no comment"


# --- which fixes there are ---


def fixes_of(call: str, code: str, parameters: str = "samples, workers=0, **more") -> list[Fix | None]:
    text = f"from torch.utils.data import DataLoader, RandomSampler\n\n\ndef load({parameters}):\n    return {call}\n"
    return [finding.fix for finding in lint_texts({"program.py": text}, code) if finding.code == code]


@pytest.mark.parametrize(
    ("code", "call", "safe"),
    [
        ("DLL402", "DataLoader(samples, num_workers=workers, prefetch_factor=4)", True),
        ("DLL402", "DataLoader(samples, prefetch_factor=4)", True),
        ("DLL402", "DataLoader(samples, prefetch_factor=4,  # deep\n    )", True),
        ("DLL402", "DataLoader(samples,\n    prefetch_factor=4,  # deep\n    )", False),
        ("DLL404", "DataLoader(samples, shuffle=True, sampler=RandomSampler(samples))", True),
    ],
)
def test_a_fix_is_safe_if_it_changes_nothing_that_ran(code: str, call: str, safe: bool) -> None:
    assert [fix and fix.safe for fix in fixes_of(call, code)] == [safe]


def test_a_sampler_from_elsewhere_makes_the_fix_unsafe() -> None:
    call = "DataLoader(samples, shuffle=True, sampler=sampler)\n\n\nload([1], RandomSampler([1]))"
    assert [fix and fix.safe for fix in fixes_of(call, "DLL404", "samples, sampler")] == [False]


@pytest.mark.parametrize(
    ("code", "call"),
    [
        ("DLL402", "DataLoader(samples, **{'num_workers': 0, 'prefetch_factor': 4})"),
        ("DLL402", "DataLoader(samples, prefetch_factor=4, **{'num_workers': 0})"),
        ("DLL402", "DataLoader(samples, num_workers=int(workers), prefetch_factor=4)"),
        ("DLL403", "DataLoader(samples, 1, None, None, None, 0, None, False, False, 60)"),
        ("DLL404", "DataLoader(samples, 1, True, RandomSampler(samples))"),
        ("DLL404", "DataLoader(samples, shuffle=bool(1), sampler=RandomSampler(samples))"),
    ],
)
def test_there_is_no_fix_for_what_the_call_does_not_say_itself(code: str, call: str) -> None:
    assert fixes_of(call, code) in ([None], [])


def test_torch_1_has_another_default() -> None:
    with workspace() as folder:
        (folder / "requirements.txt").write_text("torch==1.13.1\n")
        text = f"{HEAD}def load(samples, workers=0):\n    return DataLoader(samples, num_workers=workers, "
        (folder / "program.py").write_text(f"{text}prefetch_factor=4)\n")
        _, _, changes = fix_folder(folder, ["DLL402"])
    assert changes[0].after.decode() == f"{text}prefetch_factor=4 if workers > 0 else 2)\n"


# --- applying ---


def edit(start: int, end: int, text: str) -> Edit:
    return Edit(Location("a.py", 2, start, 2, end), text)


@pytest.mark.parametrize(
    ("edits", "applied", "after"),
    [
        ([[(1, 2, "x")], [(5, 6, "y")]], 2, "x = y"),
        ([[(1, 2, "x")], [(1, 2, "z")]], 1, "x = b"),
        ([[(1, 6, "x = 1")], [(5, 6, "y")]], 1, "x = 1"),
        ([[(1, 2, "x"), (5, 6, "x")], [(3, 4, "+")]], 1, "x = x"),
        ([[(1, 2, "x")], [(5, 6, "(")]], 1, "x = b"),
        ([[(6, 6, "+1")], [(6, 6, "+1")]], 1, "a = b+1"),
        ([[(1, 2, "a")]], 0, "a = b"),
        ([[(5, 6, "\u6f22")]], 0, "a = b"),
    ],
)
def test_what_overlaps_or_does_not_parse_is_left_out(
    edits: list[list[tuple[int, int, str]]], applied: int, after: str
) -> None:
    cookie = "# coding: latin-1\n"
    text = Text.of("a.py", f"{cookie}a = b\n".encode())
    assert text is not None
    assert text.apply([Fix("t", tuple(edit(*e) for e in some), safe=True) for some in edits]) == applied
    assert text.data.decode() == f"{cookie}{after}\n"


@pytest.mark.parametrize("data", [b"# coding: nonsense\n", b"x = '\xff'\n", b"# coding: utf-8\nx = '\xe4'\n"])
def test_what_cannot_be_decoded_is_left_alone(data: bytes) -> None:
    assert Text.of("a.py", data) is None


# --- the command line ---


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project as the current folder."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return tmp_path


def test_fix_mends_the_file_and_exits_0(here: Path, capsys: Captured) -> None:
    program = here / "a.py"
    program.write_text(FAULTY)
    assert main(["--fix"]) == 0
    assert program.read_text() == FIXED
    assert capsys.readouterr() == ("", "Fixed 1 finding.\n")
    assert main(["--fix"]) == 0
    assert capsys.readouterr() == ("", "")


def test_fix_reports_what_is_left(here: Path, capsys: Captured) -> None:
    (here / "a.py").write_text(FAULTY)
    (here / "b.py").write_text(FAULTY_COMMENT)
    assert main(["--fix"]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("b.py:4:5: DLL402 ") and err == "Fixed 1 finding.\n"
    assert main(["--fix", "--unsafe-fixes", "-q"]) == 0
    assert (here / "b.py").read_text() == FIXED_COMMENT
    assert capsys.readouterr() == ("", "")


def test_the_summary_on_a_terminal_tells_of_fixes(
    here: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    (here / "a.py").write_text(FAULTY + FAULTY_COMMENT)
    main(["--no-color"])
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "Found 2 errors in 1 file. 1 fixable with --fix, 1 fixable with --fix --unsafe-fixes."
    main(["--no-color", "--fix"])
    out, err = capsys.readouterr()
    assert out.splitlines()[-1].startswith("Fixed 1 finding. Found 1 error in 1 file.") and err == ""


def test_diff_shows_the_change_and_makes_none(here: Path, capsys: Captured) -> None:
    program = here / "a.py"
    program.write_text(FAULTY)
    assert main(["--diff"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "--- a.py",
        "+++ a.py",
        "@@ -1,2 +1,2 @@",
        " from torch.utils.data import DataLoader",
        "-loader = DataLoader([1], num_workers=0, prefetch_factor=2)",
        "+loader = DataLoader([1], num_workers=0)",
    ]
    assert program.read_text() == FAULTY
    assert main(["--diff", "--exit-zero", "--fix"]) == 0
    assert program.read_text() == FAULTY, "with both, nothing is written"


def test_diff_is_silent_where_there_is_nothing_to_mend(here: Path, capsys: Captured) -> None:
    (here / "b.py").write_text(FAULTY_COMMENT)
    assert main(["--diff"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["--diff", "--unsafe-fixes"]) == 1


@pytest.mark.parametrize("text", [FAULTY, FAULTY.rstrip(), FAULTY.replace("\n", "\r\n")])
def test_git_takes_the_diff(here: Path, text: str) -> None:
    program = here / "a.py"
    program.write_bytes(text.encode())
    command = [sys.executable, "-m", "dllint", "--diff", "--output-file", "the.patch"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1
    patch = ["git", "apply", "-p0", "the.patch"]
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(patch, check=True)
    assert program.read_bytes() == text.replace(", prefetch_factor=2", "").encode()


@pytest.mark.parametrize("arguments", [["--unsafe-fixes"], ["--fix", "-"]])
def test_flags_that_mean_nothing_together_are_refused(arguments: list[str], capsys: Captured) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert f"argument {arguments[0]}:" in capsys.readouterr().err


def test_a_suppressed_finding_is_not_mended(here: Path) -> None:
    text = FAULTY.rstrip() + "  # noqa: DLL402\n"
    (here / "a.py").write_text(text)
    assert main(["--fix"]) == 0
    assert (here / "a.py").read_text() == text


# --- writing ---


@pytest.mark.skipif(os.name != "posix", reason="modes and links are those of POSIX")
def test_the_mode_and_a_link_stay(here: Path) -> None:
    program = here / "bin" / "train.py"
    program.parent.mkdir()
    program.write_text(FAULTY)
    program.chmod(0o750)
    link = here / "train.py"
    link.symlink_to(program)
    write(Change("train.py", str(link), FAULTY.encode(), FIXED.encode()))
    assert link.is_symlink() and program.read_text() == FIXED
    assert program.stat().st_mode & 0o777 == 0o750
    assert list(program.parent.iterdir()) == [program], "no temporary file is left"


def test_a_file_that_changed_meanwhile_is_left_alone(
    here: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = here / "a.py"
    program.write_text("other\n")
    with pytest.raises(OSError, match="changed while"):
        write(Change("a.py", str(program), FAULTY.encode(), FIXED.encode()))
    assert program.read_text() == "other\n"

    def fails(change: Change) -> None:
        raise PermissionError(13, "Permission denied")

    program.write_text(FAULTY)
    monkeypatch.setattr("dllint.fixes.write", fails)
    assert main(["--fix"]) == 2
    assert "error: a.py: not changed: Permission denied\n" in capsys.readouterr().err
