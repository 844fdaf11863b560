"""Which files a run reads, which of them it reports on, and what cannot bring it down."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from dllint.files import PathError, Project, discover
from dllint.linter import lint
from dllint.settings import Settings


def write(root: Path, *names: str, text: str = "") -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with a .git, as the current folder."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def only(*paths: str, **settings: Any) -> Project:
    projects = discover(paths, Settings(**settings))
    assert len(projects) == 1
    return projects[0]


def targets(*paths: str, **settings: object) -> list[str]:
    return [file.path for file in only(*paths, **settings).targets]


def every(*paths: str) -> list[str]:
    return [file.path for file in only(*paths).files]


# --- targets and context ---


def test_files_come_sorted_and_only_those_that_are_python(here: Path) -> None:
    write(here, "b.py", "a/z.py", "a/c.pyw", "a.py", "notes.txt", "a/py", "noext")
    assert targets(".") == ["a.py", "a/c.pyw", "a/z.py", "b.py"]


def test_the_rest_of_the_project_is_context(here: Path) -> None:
    write(here, "data.py", "pkg/train.py", "pkg/sub/x.py")
    assert targets("pkg/train.py") == ["pkg/train.py"]
    assert every("pkg/train.py") == ["data.py", "pkg/sub/x.py", "pkg/train.py"]
    assert targets("pkg") == ["pkg/sub/x.py", "pkg/train.py"]


def test_several_paths_of_one_project_make_one_project(here: Path) -> None:
    write(here, "a.py", "b/c.py", "d/e.py")
    assert targets("a.py", "b", "b/c.py", "./a.py") == ["a.py", "b/c.py"]


def test_paths_of_two_projects_make_two(here: Path, tmp_path: Path) -> None:
    write(here, "a.py")
    write(tmp_path / "other", ".git/HEAD", "b.py")
    first, second = discover(["a.py", "../other"], Settings())
    assert [file.path for file in first.files] == ["a.py"]
    assert [(file.path, file.target) for file in second.files] == [("../other/b.py", True)]


def test_paths_are_shown_as_given(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(here, "pkg/a.py", "top.py")
    assert targets(str(here / "pkg")) == [str(here / "pkg/a.py")]
    monkeypatch.chdir(here / "pkg")
    assert targets("a.py") == targets("./a.py") == ["a.py"]
    assert every("a.py") == ["../top.py", "a.py"]


# --- roots ---


def test_git_decides_on_the_root_before_project_files_do(here: Path) -> None:
    write(here, "sub/pyproject.toml", "sub/a.py", "b.py")
    assert only("sub/a.py").root == str(here)


@pytest.mark.parametrize("marker", ["pyproject.toml", "setup.py", "setup.cfg", "dllint.toml"])
def test_without_git_a_project_file_decides(tmp_path: Path, marker: str) -> None:
    write(tmp_path, f"p/{marker}", "p/q/r/a.py")
    assert only(str(tmp_path / "p/q/r/a.py")).root == str(tmp_path / "p")


def test_settings_of_its_own_make_a_folder_a_project(here: Path) -> None:
    write(here, "sub/dllint.toml", "sub/deep/a.py", "other/pyproject.toml", "other/a.py")
    assert only("sub/deep/a.py").root == str(here / "sub")
    assert only("other/a.py").root == str(here)


def test_without_any_mark_the_root_is_the_given_folder(tmp_path: Path) -> None:
    write(tmp_path, "p/q/a.py", "b.py")
    assert only(str(tmp_path / "p")).root == str(tmp_path / "p")
    assert only(str(tmp_path / "p/q/a.py")).root == str(tmp_path / "p/q")


def test_a_package_without_a_project_is_rooted_where_its_imports_start(tmp_path: Path) -> None:
    write(tmp_path, "lib/pkg/__init__.py", "lib/pkg/sub/__init__.py", "lib/pkg/sub/a.py", "lib/other/__init__.py")
    project = only(str(tmp_path / "lib/pkg/sub/a.py"))
    assert project.root == str(tmp_path / "lib")
    assert [os.path.relpath(file.absolute, project.root) for file in project.files] == [
        "pkg/__init__.py",
        "pkg/sub/__init__.py",
        "pkg/sub/a.py",
    ]


# --- what is left out ---


@pytest.mark.parametrize(
    "folder",
    ("node_modules", ".venv", "venv", "site-packages", "__pycache__", ".tox", "build", "dist", "x.egg-info", ".hidden"),
)
def test_what_others_wrote_or_tools_made_is_skipped(here: Path, folder: str) -> None:
    write(here, f"{folder}/a.py", f"pkg/{folder}/b.py", "c.py")
    assert every(".") == ["c.py"]


def test_an_environment_is_known_by_its_configuration(here: Path) -> None:
    write(here, "env/a.py", "anything/pyvenv.cfg", "anything/lib/b.py")
    assert every(".") == ["env/a.py"]


def test_a_package_called_build_is_source(here: Path) -> None:
    write(here, "pkg/build/__init__.py", "pkg/build/a.py", "build/lib/b.py")
    assert every(".") == ["pkg/build/__init__.py", "pkg/build/a.py"]


@pytest.mark.parametrize("folder", [".github", ".devcontainer", ".circleci", ".gitlab-ci", ".dstack"])
def test_hidden_folders_that_hold_what_is_read_are_entered(here: Path, folder: str) -> None:
    write(here, f"{folder}/a.py")
    assert every(".") == [f"{folder}/a.py"]


def test_a_folder_given_by_name_is_linted_wherever_it_lies(here: Path) -> None:
    write(here, "build/a.py", ".venv/lib/site-packages/pkg/__init__.py", ".venv/lib/site-packages/pkg/b.py")
    assert targets("build") == ["build/a.py"]
    assert targets(".venv/lib/site-packages") == [
        ".venv/lib/site-packages/pkg/__init__.py",
        ".venv/lib/site-packages/pkg/b.py",
    ]
    assert len(targets(".venv/lib/site-packages/pkg")) == 2


def test_exclude_replaces_the_defaults_and_extend_exclude_adds_to_them(here: Path) -> None:
    write(here, "venv/a.py", "gen/b.py", "src/gen/c.py", "src/d_pb2.py", "src/e.py")
    root = str(here)
    assert targets(".", exclude=("gen",), root=root) == ["src/d_pb2.py", "src/e.py", "venv/a.py"]
    assert targets(".", extend_exclude=("gen",), root=root) == ["src/d_pb2.py", "src/e.py"]
    assert targets(".", extend_exclude=("src/gen", "*_pb2.py"), root=root) == ["gen/b.py", "src/e.py"]
    assert targets(".", extend_exclude=("**/gen/",), root=root) == ["src/d_pb2.py", "src/e.py"]


def test_a_file_given_by_name_is_linted_even_if_excluded(here: Path) -> None:
    write(here, "a_pb2.py", "ignored.py", "script", "b.py")
    (here / ".gitignore").write_text("ignored.py\n")
    names = ["a_pb2.py", "ignored.py", "script"]
    found = only(*names, extend_exclude=("*_pb2.py",), root=str(here)).targets
    assert [(file.path, file.explicit) for file in found] == [(name, True) for name in names]


# --- .gitignore ---


def test_gitignore_is_honoured(here: Path) -> None:
    write(here, "a.py", "gen/b.py", "src/gen/c.py", "src/x_old.py", "data/keep.py", "data/drop.py")
    (here / ".gitignore").write_text("# made by tools\n/gen/\n*_old.py\ndata/*\n!data/keep.py\n")
    assert every(".") == ["a.py", "data/keep.py", "src/gen/c.py"]


def test_a_nested_gitignore_speaks_for_its_folder_and_wins(here: Path) -> None:
    write(here, "a_gen.py", "sub/b_gen.py", "sub/c.py", "c.py")
    (here / ".gitignore").write_text("*_gen.py\n")
    (here / "sub/.gitignore").write_text("!b_gen.py\n/c.py\n")
    assert every(".") == ["c.py", "sub/b_gen.py"]


def test_git_info_exclude_counts_too(here: Path) -> None:
    write(here, "a.py", "scratch/b.py", ".git/info/exclude", text="scratch\n")
    assert every(".") == ["a.py"]


def test_an_invalid_pattern_does_not_spoil_the_others(here: Path) -> None:
    write(here, "a.py", "b.py")
    (here / ".gitignore").write_bytes(b"!\n\xff\xfe\nb.py\n")
    assert every(".") == ["a.py"]


def git(*words: str) -> None:
    names = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run(["git", *names, *words], check=True, capture_output=True)


TRACKED = ("a.py", "data/set.py", "data/deep/er/x.py", "lib_old.py", "n" * 120 + "/" + "m" * 120 + ".py")
UNTRACKED = ("data/local.py", "more/data/c.py", "set.py", "b_old.py")


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_what_git_tracks_is_source_whatever_gitignore_says(here: Path, version: str) -> None:
    write(here, *TRACKED)
    git("init", "-q", ".")
    git("add", *TRACKED)
    if version == "3":
        git("add", "--intent-to-add", ".")  # flags that only version 3 has
    git("update-index", "--index-version", version)
    (here / ".gitignore").write_text("data\n*_old.py\n/set.py\n" + "n" * 120)
    write(here, *UNTRACKED)
    expected = TRACKED if version != "4" else ("a.py",)  # whose names are cut short: left to .gitignore
    assert every(".") == sorted(expected)


def test_a_work_tree_of_its_own_has_an_index_of_its_own(here: Path) -> None:
    write(here, "main/data/a.py", "main/b.py")
    git("init", "-q", "main")
    git("-C", "main", "add", ".")
    git("-C", "main", "commit", "-q", "-m", "first")
    git("-C", "main", "worktree", "add", "-q", "../other")
    (here / "other/.gitignore").write_text("data\n")
    write(here, "other/c/data/d.py")
    assert every("other") == ["other/b.py", "other/data/a.py"]


def test_outside_of_a_repository_an_ignored_package_is_source(here: Path) -> None:
    (here / ".git").rmdir()
    write(here, "a.py", "net/data/__init__.py", "net/data/sets.py", "net/data/raw/drop.py", "net/out/drop.py")
    (here / ".gitignore").write_text("data\nout\n*_old.py\n")
    assert every(".") == ["a.py", "net/data/__init__.py", "net/data/sets.py"]


def test_an_ignored_folder_given_by_name_is_linted(here: Path) -> None:
    write(here, "out/a.py", "out/sub/b.py", "out/sub/c_old.py")
    (here / ".gitignore").write_text("out/\n*_old.py\n")
    assert targets("out/sub") == ["out/sub/b.py", "out/sub/c_old.py"]
    assert targets(".", "out") == ["out/a.py", "out/sub/b.py", "out/sub/c_old.py"]


# --- odd things in a folder ---


def test_links_neither_loop_nor_double(here: Path) -> None:
    write(here, "pkg/a.py")
    os.symlink("..", here / "pkg/up")
    os.symlink("loop", here / "loop")
    os.symlink("nowhere.py", here / "dangling.py")
    os.symlink("pkg/a.py", here / "same.py")
    assert every(".") == ["pkg/a.py"]


def test_a_link_to_a_file_elsewhere_is_read(here: Path, tmp_path: Path) -> None:
    write(tmp_path, "elsewhere.py")
    os.symlink(tmp_path / "elsewhere.py", here / "linked.py")
    assert every(".") == ["linked.py"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this platform has no FIFOs")
def test_a_fifo_is_no_file(here: Path) -> None:
    os.mkfifo(here / "pipe.py")
    assert every(".") == []
    with pytest.raises(PathError, match=r"pipe\.py: neither a file nor a folder"):
        discover(["pipe.py"], Settings())


def test_a_folder_called_like_a_file_is_a_folder(here: Path) -> None:
    write(here, "pkg.py/a.py")
    assert every(".") == ["pkg.py/a.py"]


def test_names_with_line_ends_and_escapes_are_names(here: Path) -> None:
    write(here, "a\nb.py", "\x1b[31mred.py")
    assert every(".") == ["\x1b[31mred.py", "a\nb.py"]


@pytest.mark.parametrize("path", ["missing.py", "missing/", "nul\0byte"])
def test_a_missing_path_is_named(here: Path, path: str) -> None:
    with pytest.raises(PathError) as caught:
        discover([path], Settings())
    assert str(caught.value).startswith(path)


def test_an_empty_folder_is_a_project_without_files(here: Path) -> None:
    assert every(".") == []


def test_stdin_takes_the_place_of_the_file_it_is_named_after(here: Path) -> None:
    write(here, "pkg/a.py", "pkg/b.py", text="on disk")
    (project,) = discover([], Settings(), ("pkg/a.py", b"typed"))
    assert [(file.path, file.target, file.read()) for file in project.files] == [
        ("pkg/a.py", True, b"typed"),
        ("pkg/b.py", False, b"on disk"),
    ]


def test_ten_thousand_files_are_found_in_a_blink(here: Path) -> None:
    for number in range(200):
        folder = here / f"pkg{number}"
        folder.mkdir()
        for name in range(50):
            (folder / f"m{name}.py").touch()
    start = time.perf_counter()
    assert len(every(".")) == 10_000
    assert time.perf_counter() - start < 1


def test_a_number_that_python_does_not_read_is_told_in_our_words(here: Path) -> None:
    (here / "a.py").write_text("from torch.utils.data import DataLoader\nworkers = " + "9" * 5000 + "\n")
    (finding,) = lint([only(".")], Settings()).findings
    assert finding.message.endswith("a number has more digits than Python reads, unless it is written in hexadecimal")


def test_a_folder_that_cannot_be_listed_is_reported(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(here, "a.py", "locked/b.py", ".venv/c.py")
    scandir = os.scandir

    def refusing(path: str) -> Any:
        if os.path.basename(path) in ("locked", ".venv"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    report = lint([only(".")], Settings())
    assert [(f.location.path, f.code) for f in report.findings] == [("locked", "DLL001")]
    assert only("a.py").unlisted == ()
