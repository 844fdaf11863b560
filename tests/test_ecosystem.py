"""The parts of tests/ecosystem that need no network: the pins, the digest and its differences, the verdicts."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from dllint.registry import registry
from ecosystem import cache, digest, pins, precision
from ecosystem.digest import DIGEST, Entry
from harness import ROOT

HANDLE = Entry("speech", "speech/data.py", 10, "DLL201", "true", "opened in __init__, read by workers")
LAMBDA = Entry("speech", "speech/data.py", 20, "DLL502", "false", "never reaches a worker")
UNREAD = Entry("vision", "train.py", 5, "DLL502")


def test_the_pins_are_well_formed_and_sorted() -> None:
    names = [pin.name for pin in pins.pinned()]
    assert len(names) >= 25
    assert names == sorted(set(names))


def test_what_is_no_pin_is_refused() -> None:
    for line in ("torch==2.13.0", "torch>=2 --hash=sha256:" + "0" * 64, "Torch==2 --hash=sha256:" + "0" * 64):
        with pytest.raises(pins.PinError):
            pins.read(line)
    with pytest.raises(pins.PinError, match="absent"):
        pins.pinned(["absent"])


def test_the_packages_that_ci_lints_are_pinned() -> None:
    (line,) = [line for line in (ROOT / ".ci" / "run").read_text().splitlines() if "tests/ecosystem check" in line]
    names = line.partition("check ")[2].split()
    assert len(pins.pinned(names)) == 3


def test_the_digest_is_sorted_and_about_what_there_is() -> None:
    text = DIGEST.read_text(encoding="utf-8")
    entries = digest.read(text)
    assert digest.written(entries) == text
    assert {entry.package for entry in entries} <= {pin.name for pin in pins.pinned()}
    assert {entry.code for entry in entries} <= set(registry())


def test_a_digest_is_read_as_it_was_written() -> None:
    entries = [HANDLE, LAMBDA, UNREAD]
    assert digest.read(digest.written(reversed(entries))) == entries


@pytest.mark.parametrize(
    "columns",
    [("speech", "a.py", "x", "DLL201", "", ""), ("a.py", "1", "DLL201"), ("speech", "a.py", "1", "DLL201", "true", ""),
     ("speech", "a.py", "1", "DLL201", "maybe", "who knows")],
)  # fmt: skip
def test_what_is_no_entry_is_refused(columns: tuple[str, ...]) -> None:
    with pytest.raises(digest.DigestError):
        digest.read(digest.written([]) + "\t".join(columns) + "\n")


def test_nothing_has_changed() -> None:
    known = [HANDLE, LAMBDA, UNREAD, UNREAD]
    assert not digest.compare(known, [entry.found for entry in reversed(known)])


def test_a_difference_tells_what_is_new_gone_and_moved() -> None:
    new = Entry("vision", "other.py", 7, "DLL601")
    moved = Entry("speech", "speech/data.py", 23, "DLL502")
    difference = digest.compare([HANDLE, LAMBDA, UNREAD], [moved, UNREAD, new])
    assert list(difference.lines()) == [
        "new    vision/other.py:7:DLL601",
        "gone   speech/speech/data.py:10:DLL201  true",
        "moved  speech/speech/data.py:20:DLL502 to line 23",
    ]


def test_a_second_finding_on_one_line_is_new() -> None:
    difference = digest.compare([UNREAD], [UNREAD, UNREAD])
    assert (difference.new, difference.gone, difference.moved) == ([UNREAD], [], [])


def test_verdicts_stay_also_of_what_has_moved() -> None:
    moved = Entry("speech", "speech/data.py", 23, "DLL502")
    kept = digest.merged([HANDLE, LAMBDA], [HANDLE.found, moved, UNREAD])
    assert [(entry.line, entry.verdict) for entry in kept] == [(10, "true"), (23, "false"), (5, "")]


def test_precision_counts_what_was_judged() -> None:
    debatable = Entry("vision", "train.py", 9, "DLL201", "debatable", "only on macOS")
    rows = [line.split() for line in precision.table([HANDLE, LAMBDA, UNREAD, debatable]).splitlines()]
    assert rows[1:] == [
        ["DLL201", "2", "1", "0", "1", "0", "100%"],
        ["DLL502", "2", "0", "1", "0", "1", "0%"],
        ["all", "4", "1", "1", "1", "1", "50%"],
    ]


def test_a_rule_that_nobody_judged_has_no_precision() -> None:
    assert precision.table([UNREAD]).splitlines()[1].split()[-1] == "-"


def wheel(folder: Path, **members: str) -> Path:
    path = folder / "wheels" / "my_speech-1.0-py3-none-any.whl"
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return path


def pin_of(path: Path) -> pins.Pin:
    return pins.Pin("my-speech", "1.0", cache.hash_of(path))


def test_a_wheel_in_the_cache_is_unpacked_once_as_a_project_of_its_own(tmp_path: Path) -> None:
    path = wheel(tmp_path, **{"speech/data.py": "x = 1\n"})
    pin = pin_of(path)
    for _ in range(2):
        folder = cache.unpacked([pin], tmp_path)["my-speech"]
        assert sorted(file.name for file in folder.iterdir()) == [".git", "speech"]
        path.unlink(missing_ok=True)
    assert [file.name for file in folder.parent.iterdir()] == ["my-speech-1.0"]


@pytest.mark.parametrize("name", ["../out.py", "/etc/out.py", "speech/../../out.py", "..\\out.py", "C:\\out.py"])
def test_a_wheel_that_leads_out_of_its_folder_is_refused(tmp_path: Path, name: str) -> None:
    pin = pin_of(wheel(tmp_path, **{name: ""}))
    with pytest.raises(cache.CacheError, match="holds the path"):
        cache.unpacked([pin], tmp_path)
    assert list((tmp_path / "unpacked").iterdir()) == []


def test_a_wheel_with_another_hash_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = wheel(tmp_path, **{"speech/data.py": "x = 1\n"})
    pin = pins.Pin("my-speech", "1.0", "0" * 64)
    monkeypatch.setattr(cache, "download", lambda *_: None)
    with pytest.raises(cache.CacheError, match="sha256:0000"):
        cache.unpacked([pin], tmp_path)
    assert path.exists()
