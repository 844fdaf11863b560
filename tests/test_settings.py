"""What may be set, where it is looked for, what wins, and what a mistake is told."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dllint import selection
from dllint.finding import Failure, Finding, Location, Severity
from dllint.rule import Rule
from dllint.selection import enabled_rules, ignored_in, severity_of
from dllint.settings import KEYS, PLATFORMS, Settings, SettingsError, as_toml, load, merge


@pytest.fixture(autouse=True)
def few_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry of four rules, so that these tests say all there is to be said about a selection."""
    rules = {}
    for code, name, opt_in in (
        ("DLL101", "first", False),
        ("DLL102", "second", True),
        ("DLL201", "third", False),
        ("DLL202", "fourth", False),
    ):
        rules[code] = Rule(code, name, Severity.WARNING, Failure.STALL, "0.1", opt_in=opt_in)
    monkeypatch.setattr("dllint.registry.listing", lambda: rules)
    monkeypatch.setattr(selection, "listing", lambda: rules)


def codes(**settings: Any) -> list[str]:
    return [rule.code for rule in enabled_rules(Settings(**settings))]


# --- selection ---


def test_by_default_all_rules_run_that_are_not_opt_in() -> None:
    assert codes() == ["DLL101", "DLL201", "DLL202"]


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        (("ALL",), ["DLL101", "DLL102", "DLL201", "DLL202"]),
        (("DLL1",), ["DLL101", "DLL102"]),
        (("dll201",), ["DLL201"]),
        (("second", "FOURTH"), ["DLL102", "DLL202"]),
        ((), []),
    ],
)
def test_select_takes_prefixes_names_and_all(select: tuple[str, ...], expected: list[str]) -> None:
    assert codes(select=select) == expected


def test_extend_select_adds() -> None:
    assert codes(extend_select=("second",)) == ["DLL101", "DLL102", "DLL201", "DLL202"]


@pytest.mark.parametrize(
    ("select", "ignore", "expected"),
    [
        (("DLL2",), ("DLL201",), ["DLL202"]),
        (("DLL201",), ("DLL2",), ["DLL201"]),
        (("ALL",), ("DLL2",), ["DLL101", "DLL102"]),
        (("DLL2",), ("ALL",), ["DLL201", "DLL202"]),
        (("DLL201",), ("third",), []),
        (("DLL2",), ("DLL2",), []),
        (None, ("DLL2",), ["DLL101"]),
        (None, ("ALL",), []),
    ],
)
def test_the_more_specific_selector_wins_and_ignore_wins_ties(
    select: tuple[str, ...] | None, ignore: tuple[str, ...], expected: list[str]
) -> None:
    assert codes(select=select, ignore=ignore) == expected


@pytest.mark.parametrize("key", ["select", "extend_select", "ignore"])
def test_a_selector_without_a_rule_is_an_error_that_names_its_key(key: str) -> None:
    with pytest.raises(SettingsError, match=r"DLL901.*DLL101, DLL102, DLL201, DLL202.*did you mean") as caught:
        codes(**{key: ("DLL901",)})
    assert key.replace("_", "-") in str(caught.value)


def test_rules_can_be_silent_in_some_files(tmp_path: Path) -> None:
    settings = Settings(per_file_ignores=(("tests/*", ("DLL2",)), ("conf.py", ("ALL",))), root=str(tmp_path))
    assert ignored_in(settings, str(tmp_path / "tests/a.py"), "DLL201")
    assert ignored_in(settings, str(tmp_path / "docs/conf.py"), "DLL101")
    assert not ignored_in(settings, str(tmp_path / "tests/a.py"), "DLL101")
    assert not ignored_in(settings, str(tmp_path / "src/a.py"), "DLL201")


def test_rules_can_be_silent_outside_of_some_files(tmp_path: Path) -> None:
    settings = Settings(per_file_ignores=(("!src/*", ("DLL2",)),), root=str(tmp_path))
    assert ignored_in(settings, str(tmp_path / "tests/a.py"), "DLL201")
    assert not ignored_in(settings, str(tmp_path / "src/a.py"), "DLL201")


def test_the_most_specific_severity_counts() -> None:
    settings = Settings(severity=(("third", Severity.ERROR), ("DLL2", Severity.INFO)))
    at = Location("a.py", 1, 1, 1, 2)
    finding = Finding("DLL201", "third", "", Severity.WARNING, Failure.STALL, at)
    assert severity_of(settings, finding) is Severity.ERROR
    assert severity_of(Settings(), finding) is Severity.WARNING


# --- files ---


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[tool.dllint]\nmax-workers = 5\n"),
        ("dllint.toml", "max-workers = 5\n"),
        (".dllint.toml", "\ufeffmax-workers = 5\r\n"),
    ],
)
def test_the_nearest_file_upwards_counts(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.dllint]\nmax-workers = 9\n")
    inner = tmp_path / "a/b"
    (inner / "c").mkdir(parents=True)
    (inner / name).write_text(text, encoding="utf-8", newline="")
    (inner / "c/pyproject.toml").write_text("[tool.other]\nname = 'not dllint'\n")
    settings = load(str(inner / "c/file.py"))
    assert (settings.max_workers, settings.path, settings.root) == (5, str(inner / name), str(inner))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_a_project_file_in_utf_16_is_told(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text("[tool.dllint]\nmax-workers = 5\n", encoding=encoding)
    with pytest.raises(SettingsError, match="not valid TOML"):
        load(str(tmp_path))
    file.write_text("[tool.other]\nmax-workers = 5\n", encoding=encoding)
    assert load(str(tmp_path)).path != str(file)


def test_isolated_reads_no_file(tmp_path: Path) -> None:
    (tmp_path / "dllint.toml").write_text("max-workers = 5\n")
    assert load(str(tmp_path), isolated=True).max_workers == 32


def test_a_file_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "dllint.toml").write_text("max-workers = 5\n")
    (tmp_path / "other.toml").write_text("max-workers = 7\n")
    assert load(str(tmp_path), config=str(tmp_path / "other.toml")).max_workers == 7


def test_a_named_file_that_is_missing_is_an_error() -> None:
    with pytest.raises(SettingsError, match=r"nowhere\.toml: cannot be read"):
        load(".", config="nowhere.toml")


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ('select = ["DLL2"]', "select", ("DLL2",)),
        ('per-file-ignores = { "tests/*" = ["DLL2"] }', "per_file_ignores", (("tests/*", ("DLL2",)),)),
        ('severity = { third = "error" }', "severity", (("third", Severity.ERROR),)),
        ('target-python = "3.10"', "target_python", (3, 10)),
        ('target-python = "py39"', "target_python", (3, 9)),
        ('platforms = ["linux", "darwin", "win32"]', "platforms", ("linux", "macos", "windows")),
        ('start-method = "forkserver"', "start_method", "forkserver"),
        ('batch-bytes = "600MB"', "batch_bytes", 600_000_000),
        ('batch-bytes = "1.5 GiB"', "batch_bytes", 1_610_612_736),
        ("batch-bytes = 1024", "batch_bytes", 1024),
        ('dataset-bases = ["my.Base"]', "dataset_bases", ("my.Base",)),
        ('training-images = ["acme/*"]', "training_images", ("acme/*",)),
    ],
)
def test_values_are_read(tmp_path: Path, line: str, field: str, value: object) -> None:
    (tmp_path / "dllint.toml").write_text(line + "\n")
    assert getattr(load(str(tmp_path)), field) == value


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("max_workers = 1", "unknown setting 'max_workers'; did you mean 'max-workers'?"),
        ("colour = 1", "allowed are: select, extend-select"),
        ("max-workers = 0", "max-workers must be a whole number of at least 1, not 0"),
        ("max-workers = true", "max-workers must be"),
        ('select = "DLL1"', "select must be a list of rule codes"),
        ("select = [1]", "select must be a list of rule codes"),
        ('target-python = "2.7"', 'such as "3.11"'),
        ("target-python = 3.1", 'such as "3.11"'),
        ('platforms = ["amiga"]', 'a list of "linux", "macos", "windows"'),
        ('start-method = "thread"', '"fork", "spawn" or "forkserver"'),
        ('batch-bytes = "lots"', "600MB"),
        ('severity = { DLL101 = "fatal" }', '"error", "warning" or "info"'),
        ('per-file-ignores = ["DLL1"]', "a table from globs"),
        ("select = [", "not valid TOML"),
        (f"max-workers = {'9' * 5000}", "not valid TOML: a number has too many digits"),
    ],
)
def test_a_mistake_is_told_with_file_key_and_what_is_allowed(tmp_path: Path, line: str, told: str) -> None:
    path = tmp_path / "dllint.toml"
    path.write_text(line + "\n")
    with pytest.raises(SettingsError) as caught:
        load(str(tmp_path))
    assert str(caught.value).startswith(f"{path}: ")
    assert told in str(caught.value)


def test_a_pyproject_that_is_not_about_dllint_may_be_broken(tmp_path: Path) -> None:
    (tmp_path / "dllint.toml").write_text("max-workers = 5\n")
    (tmp_path / "a").mkdir()
    (tmp_path / "a/pyproject.toml").write_text("dependencies = [ 'dllint'\n")
    assert load(str(tmp_path / "a")).max_workers == 5


# --- the command line ---


def test_what_is_given_wins_and_what_is_not_stays() -> None:
    base = Settings(max_workers=5, start_method="fork")
    merged = merge(base, max_workers=7, start_method=None)
    assert (merged.max_workers, merged.start_method) == (7, "fork")


def test_select_on_the_command_line_replaces_the_whole_selection() -> None:
    base = Settings(select=("DLL1",), ignore=("DLL201",), extend_select=("DLL102",))
    assert [rule.code for rule in enabled_rules(merge(base, select=("DLL2",)))] == ["DLL201", "DLL202"]


def test_ignore_on_the_command_line_takes_back_what_the_file_selects() -> None:
    base = Settings(select=("DLL201", "DLL101"))
    assert [rule.code for rule in enabled_rules(merge(base, ignore=("DLL2",)))] == ["DLL101"]


def test_extend_select_on_the_command_line_takes_back_what_the_file_ignores() -> None:
    base = Settings(ignore=("DLL201", "DLL202"))
    assert [rule.code for rule in enabled_rules(merge(base, extend_select=("DLL201",)))] == ["DLL101", "DLL201"]


def test_excludes_and_per_file_ignores_add_up() -> None:
    base = Settings(extend_exclude=("a",), per_file_ignores=(("x", ("DLL1",)),))
    merged = merge(base, extend_exclude=("b",), per_file_ignores=(("y", ("DLL2",)),))
    assert merged.extend_exclude == ("a", "b")
    assert merged.per_file_ignores == (("x", ("DLL1",)), ("y", ("DLL2",)))


# --- printed ---

WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda text: text == text.strip() != "")
LISTS = st.lists(WORDS, max_size=3).map(tuple)
COUNTS = st.integers(1, 10**9)
PRINTED = st.builds(
    Settings,
    select=st.none() | LISTS,
    ignore=LISTS,
    exclude=st.none() | LISTS,
    per_file_ignores=st.lists(st.tuples(WORDS, LISTS), max_size=3).map(tuple),
    severity=st.dictionaries(WORDS, st.sampled_from(Severity), max_size=3).map(lambda table: tuple(table.items())),
    target_python=st.none() | st.tuples(st.just(3), st.integers(0, 99)),
    platforms=st.sets(st.sampled_from(sorted({*PLATFORMS.values()}))).map(tuple),
    start_method=st.none() | st.sampled_from(["fork", "spawn", "forkserver"]),
    max_workers=COUNTS,
    batch_bytes=st.none() | COUNTS,
    path=st.none() | WORDS,
)


@given(PRINTED)
def test_what_is_printed_is_a_settings_file_that_sets_the_same(printed: Settings) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "dllint.toml")
        file.write_text("".join(f"{line}\n" for line in as_toml(printed)), encoding="utf-8", newline="\n")
        read = load(folder, config=str(file))
    for key in KEYS.keys() - {"per-file-ignores"}:
        name = key.replace("-", "_")
        assert getattr(read, name) == getattr(printed, name)
    assert silent(read) == silent(printed)


def silent(settings: Settings) -> set[tuple[str, str]]:
    """Which selector is silent in the files of which glob: one glob may be given more than once."""
    return {(glob, selector) for glob, selectors in settings.per_file_ignores for selector in selectors}
