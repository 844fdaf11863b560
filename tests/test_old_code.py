"""Old code: the baseline, and only what is new since a git revision. With real git repositories."""

from __future__ import annotations

import io
import json
import os
import subprocess
from pathlib import Path

import pytest

from dllint.cli import main

DATA = """\
from torch.utils.data import DataLoader, Dataset


class Clips(Dataset):
    def __init__(self, path):
        self.file = open(path, "rb")

    def __getitem__(self, index):
        return self.file.read(4)
"""
TRAIN = """\
from data import Clips
from torch.utils.data import DataLoader


def load(path):
    return DataLoader(Clips(path), num_workers={workers})
"""
SECOND = """

class Masks(Dataset):
    def __init__(self, path):
        self.file = open(path, "rb")

    def __getitem__(self, index):
        return self.file.read(4)


def masks(path):
    return DataLoader(Masks(path), num_workers=2)
"""
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def project(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a fault in it, as the current folder. Its path says nothing of tests."""
    folder = tmp_path_factory.mktemp("clips")
    monkeypatch.chdir(folder)
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "A")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@example.org")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    write("data.py", DATA)
    write("train.py", TRAIN.format(workers=4))
    git("init", "-q")
    commit()
    return folder


def write(name: str, text: str) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")


def git(*words: str) -> str:
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout


def commit() -> None:
    git("add", "--all")
    git("commit", "-q", "-m", "x")


def found(capsys: Captured, *flags: str) -> list[str]:
    """`file:row` of what is reported."""
    capsys.readouterr()
    status = main(["--output-format", "json", *flags])
    told = [f"{item['filename']}:{item['location']['row']}" for item in json.loads(capsys.readouterr().out)]
    assert status == bool(told)
    return told


def error_of(capsys: Captured, *flags: str) -> str:
    capsys.readouterr()
    assert main([*flags]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


# --- the baseline ---


def test_what_the_baseline_knows_is_not_reported(capsys: Captured) -> None:
    assert found(capsys) == ["data.py:6"]
    assert main(["--baseline", "known.json", "--write-baseline"]) == 0
    assert capsys.readouterr().err == "Wrote 1 entry to known.json.\n"
    assert found(capsys, "--baseline", "known.json") == []


def test_lines_that_move_stay_known_and_more_of_the_same_is_new(capsys: Captured) -> None:
    main(["--baseline", "known.json", "--write-baseline"])
    write("data.py", "# moved\n\n" + DATA.replace("    ", "  "))
    assert found(capsys, "--baseline", "known.json") == []
    write("data.py", DATA + SECOND)
    assert found(capsys, "--baseline", "known.json") == ["data.py:14"]
    write("data.py", DATA.replace('"rb"', '"r+b"'))
    assert found(capsys, "--baseline", "known.json") == ["data.py:6"]


def test_alike_findings_are_counted(capsys: Captured) -> None:
    twice = "        self.files = [open(path), open(path)]\n"
    text = DATA.replace('        self.file = open(path, "rb")\n', twice).replace("self.file.read", "self.files[0].read")
    write("data.py", text)
    number = len(found(capsys))
    main(["--baseline", "known.json", "--write-baseline"])
    assert found(capsys, "--baseline", "known.json") == []
    rows = json.loads(Path("known.json").read_text())["findings"]
    assert sum(row.get("count", 1) for row in rows) == number > 1


def test_paths_are_relative_to_the_baseline_whatever_the_folder(
    capsys: Captured, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("ci").mkdir()
    main(["--baseline", "ci/known.json", "--write-baseline"])
    assert json.loads(Path("ci/known.json").read_text())["findings"][0]["path"] == "../data.py"
    monkeypatch.chdir(project / "ci")
    assert found(capsys, "..", "--baseline", "known.json") == []
    assert found(capsys, str(project), "--baseline", str(project / "ci" / "known.json")) == []


def test_entries_that_nothing_meets_are_told(capsys: Captured) -> None:
    main(["--baseline", "known.json", "--write-baseline"])
    write("train.py", TRAIN.format(workers=0))
    capsys.readouterr()
    assert main(["--baseline", "known.json"]) == 0
    told = capsys.readouterr().err
    assert told.startswith('stale: data.py: DLL201 self.file = open(path, "rb")\n1 entry of known.json can go')
    main(["--baseline", "known.json", "-q"])
    assert capsys.readouterr().err == ""
    main(["--baseline", "known.json", "--statistics"])
    assert capsys.readouterr().out == "1  stale entries in the baseline\n"
    main(["--baseline", "known.json", "--statistics", "--output-format", "json"])
    assert json.loads(capsys.readouterr().out) == [
        {"code": None, "name": "stale-baseline-entry", "severity": None, "count": 1}
    ]


def test_what_a_run_does_not_look_at_is_not_stale_and_is_kept(capsys: Captured) -> None:
    main(["--baseline", "known.json", "--write-baseline"])
    before = Path("known.json").read_bytes()
    for flags in (["train.py"], ["--ignore", "DLL201,DLL502"]):
        capsys.readouterr()
        assert main([*flags, "--baseline", "known.json"]) == 0
        assert capsys.readouterr().err == ""
        assert main([*flags, "--baseline", "known.json", "--write-baseline"]) == 0
        assert Path("known.json").read_bytes() == before
    Path("data.py").unlink()
    main(["train.py", "--baseline", "known.json", "--write-baseline"])
    assert json.loads(Path("known.json").read_text())["findings"] == []


def test_the_file_is_the_same_whatever_the_order_and_has_an_entry_a_line(capsys: Captured) -> None:
    write("data.py", DATA + SECOND)
    main(["--baseline", "one.json", "--write-baseline"])
    main(["train.py", "data.py", "--baseline", "two.json", "--write-baseline", "-j", "1"])
    text = Path("one.json").read_text()
    assert text == Path("two.json").read_text()
    rows = [line for line in text.splitlines() if line.startswith("    ")]
    assert len(rows) == len(json.loads(text)["findings"]) == 2
    assert rows == sorted(rows)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "Expecting value"),
        ("[]", 'the key "dllint-baseline" is missing'),
        ('{"dllint-baseline": 7}', "another version of dllint"),
        ('{"dllint-baseline": 1}', '"findings" must be a list'),
        ('{"dllint-baseline": 1, "findings": [1]}', "entry 1 must be a table"),
        ('{"dllint-baseline": 1, "findings": [{"path": "x"}]}', "entry 1 must have a text for each of path, code"),
        ("<<<<<<< HEAD\n{}\n=======\n>>>>>>> x\n", "an unresolved merge conflict"),
        ("[" * 100_000, "not a baseline"),
    ],
)
def test_a_broken_baseline_is_an_error_and_is_not_overwritten(text: str, told: str, capsys: Captured) -> None:
    write("known.json", text)
    assert told in error_of(capsys, "--baseline", "known.json")
    if text:
        assert told in error_of(capsys, "--baseline", "known.json", "--write-baseline")
        assert Path("known.json").read_text() == text


def test_a_count_that_is_none_is_an_error(capsys: Captured) -> None:
    main(["--baseline", "known.json", "--write-baseline"])
    text = Path("known.json").read_text()
    for count in ("0", "-1", "true", '"2"', "1e99"):
        write("known.json", text.replace("}\n", f', "count": {count}}}\n', 1))
        assert "count must be a whole number" in error_of(capsys, "--baseline", "known.json")


def test_a_missing_baseline_is_an_error(capsys: Captured) -> None:
    assert "nope.json: cannot be read as a baseline: No such file" in error_of(capsys, "--baseline", "nope.json")
    assert "name the file with --baseline" in error_of(capsys, "--write-baseline")


def test_the_baseline_of_the_settings(capsys: Captured, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("dllint.toml", 'baseline = "known.json"\n')
    assert main(["--write-baseline"]) == 0
    assert found(capsys) == []
    (project / "sub").mkdir()
    monkeypatch.chdir(project / "sub")
    assert found(capsys, "..") == []
    write("../dllint.toml", "baseline = 1\n")
    assert "baseline must be the name of a file" in error_of(capsys, "..")


def test_sarif_marks_what_is_known(capsys: Captured) -> None:
    main(["--baseline", "known.json", "--write-baseline"])
    assert main(["--baseline", "known.json", "--output-format", "sarif"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert result["suppressions"] == [{"kind": "external"}]


# --- only what is new ---


def test_only_what_the_change_adds_is_reported(capsys: Captured) -> None:
    assert found(capsys, "--new-since", "HEAD") == []
    write("data.py", "# moved\n" + DATA + SECOND)
    assert found(capsys, "--new-since", "HEAD") == ["data.py:15"]
    commit()
    assert found(capsys, "--new-since", "HEAD") == []
    assert found(capsys, "--new-since", "HEAD~1", ".") == ["data.py:15"]


def test_a_change_elsewhere_can_make_an_untouched_line_new(capsys: Captured) -> None:
    write("train.py", TRAIN.format(workers=0))
    commit()
    write("train.py", TRAIN.format(workers=4))
    assert found(capsys, "--new-since", "HEAD") == ["data.py:6"]
    assert found(capsys, "--new-since", "HEAD", "data.py") == ["data.py:6"]


def test_an_edited_line_with_the_same_fault_is_not_new(capsys: Captured) -> None:
    write("data.py", DATA.replace('open(path, "rb")', 'open(path, mode="rb")'))
    assert found(capsys, "--new-since", "HEAD") == []


@pytest.mark.parametrize("staged", [True, False])
def test_a_renamed_file_is_followed(capsys: Captured, staged: bool) -> None:
    filler = "".join(f"\n# {number} more lines make it a file that git knows again\n" for number in range(20))
    write("data.py", DATA + filler)
    commit()
    write("package/store.py", DATA + filler)
    Path("data.py").unlink()
    write("train.py", TRAIN.format(workers=4).replace("from data", "from package.store"))
    if staged:
        git("add", "--all")
    assert found(capsys, "--new-since", "HEAD") == []
    assert found(capsys, "--new-since", "HEAD", "package") == []
    write("package/store.py", DATA + SECOND + filler)
    assert found(capsys, "--new-since", "HEAD", "package/store.py") == ["package/store.py:14"]


def test_text_on_stdin_is_compared_with_the_file(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    for text, expected in ((DATA, []), (DATA + SECOND, ["data.py:14"])):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        assert found(capsys, "-", "--stdin-filename", "data.py", "--new-since", "HEAD") == expected


def test_an_untracked_file_is_new(capsys: Captured) -> None:
    write("more/masks.py", DATA.splitlines()[0] + "\n" + SECOND)
    assert found(capsys, "--new-since", "HEAD") == ["more/masks.py:6"]


def test_neither_the_working_tree_nor_the_index_is_touched(capsys: Captured, project: Path) -> None:
    write("data.py", DATA + SECOND)
    write("new.py", "x = 1\n")
    git("add", "data.py")
    write("train.py", TRAIN.format(workers=2))
    git("status")
    before = (git("status", "--porcelain"), tree(project))
    found(capsys, "--new-since", "HEAD")
    assert (git("status", "--porcelain"), tree(project)) == before


def tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in files if "objects" not in path.parts}


def test_odd_names_settings_and_folders(capsys: Captured, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("dllint.toml", '[per-file-ignores]\n"old/*" = ["DLL201"]\n')
    write("old/a\tb ä.py", DATA + SECOND)
    write("sub/x.py", DATA + SECOND)
    commit()
    write("sub/x.py", "\n" + DATA + SECOND)
    monkeypatch.chdir(project / "sub")
    monkeypatch.setenv("GIT_DIR", "nowhere")  # as in a hook, of another repository
    assert found(capsys, "--new-since", "HEAD") == []
    assert found(capsys, "..", "--new-since", "HEAD") == []


def test_a_submodule_is_no_news(capsys: Captured, project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    inner = tmp_path_factory.mktemp("inner")
    subprocess.run(["git", "clone", "-q", str(project), str(inner / "lib")], check=True)
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner / "lib"), "lib")
    commit()
    assert found(capsys) == ["data.py:6", "lib/data.py:6"]
    assert found(capsys, "--new-since", "HEAD") == []
    assert found(capsys, "--new-since", "HEAD~1") == ["lib/data.py:6"]


def test_no_repository_and_no_such_revision_are_errors(
    capsys: Captured, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "'nope' is no commit" in error_of(capsys, "--new-since", "nope")
    assert "is no commit" in error_of(capsys, "--new-since=--help")
    monkeypatch.chdir(tmp_path_factory.mktemp("plain"))
    write("data.py", DATA)
    assert "not in a git working tree" in error_of(capsys, "--new-since", "HEAD")
    monkeypatch.setenv("PATH", "")
    assert "git cannot be run" in error_of(capsys, "--new-since", "HEAD")
