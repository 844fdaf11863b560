"""The command line: commands, flags, exit codes, and what bad input gets."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from stub import RULES, stub

from dllint import __version__
from dllint.cli import main

__all__ = ["stub"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project as the current folder."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return tmp_path


Captured = pytest.CaptureFixture[str]


def dllint(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run the real thing in a process of its own."""
    command = [sys.executable, "-m", "dllint", *arguments]
    found: subprocess.CompletedProcess[str] = subprocess.run(
        command, capture_output=True, text=True, timeout=60, **more
    )
    return found


# --- exit codes ---


@pytest.mark.parametrize(
    ("text", "flags", "status"),
    [
        ("fine\n", [], 0),
        ("bad\n", [], 1),
        ("odd\n", [], 1),
        ("bad\n", ["--exit-zero"], 0),
        ("odd\n", ["--fail-on", "error"], 0),
        ("bad\n", ["--fail-on", "error"], 1),
        ("slow\n", [], 0),
        ("slow\n", ["--select", "DLL903"], 1),
        ("slow\n", ["--select", "DLL903", "--fail-on", "warning"], 0),
        ("bad\n", ["--ignore", "bad-line"], 0),
        ("bad\n", ["--per-file-ignores", "a.py:DLL901,DLL902"], 0),
        ("bad  # noqa\n", [], 0),
        ("raise\n", [], 2),
        ("raise\n", ["--exit-zero"], 2),
    ],
)
@pytest.mark.usefixtures("stub")
def test_exit_status(here: Path, text: str, flags: list[str], status: int) -> None:
    (here / "a.py").write_text(text)
    assert main(["a.py", *flags]) == status


@pytest.mark.usefixtures("stub")
def test_a_rule_that_raises_is_named_with_the_file_and_the_rest_is_printed(here: Path, capsys: Captured) -> None:
    (here / "a.py").write_text("raise\nbad\nraise\n")
    assert main([]) == 2
    out, err = capsys.readouterr()
    assert out == "a.py:2:1: DLL901 This line is bad\n"
    assert "internal error in DLL905 on a.py: ZeroDivisionError: a defect (2 times)" in err
    assert err.count("internal error") == 1
    assert "Traceback" not in err
    assert main(["-v"]) == 2
    assert "Traceback" in capsys.readouterr().err


# --- bad usage ---


def test_a_missing_path_is_named(capsys: Captured) -> None:
    assert main(["missing.py"]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", "error: missing.py: No such file or directory\n")


def test_a_folder_without_files_is_said_on_stderr(capsys: Captured) -> None:
    assert main(["."]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "warning: no files to lint below the given paths\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--select", "DLL999"], "select: no rule matches 'DLL999'"),
        (["--ignore", "NOPE"], "ignore: no rule matches 'NOPE'"),
        (["rule", "DLL999"], "no rule is called 'DLL999'"),
        (["--config", "nowhere.toml"], "nowhere.toml: cannot be read"),
        (["--output-file", "no/such/folder.txt", "."], "no/such/folder.txt: No such file or directory"),
    ],
)
def test_bad_usage_is_told(here: Path, capsys: Captured, arguments: list[str], told: str) -> None:
    (here / "a.py").write_text("")
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert told in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--no-such-flag"], "--no-such-flag"),
        (["--output-format", "xml"], "'text', 'concise', 'grouped', 'json'"),
        (["--fail-on", "fatal"], "'info', 'warning', 'error'"),
        (["--target-python", "2.7"], 'such as "3.11"'),
        (["--max-workers", "0"], "at least 1"),
        (["--platforms", "amiga"], '"linux", "macos", "windows"'),
        (["--per-file-ignores", "DLL901"], "must be GLOB:RULES"),
        (["--select", ""], "must be codes, prefixes of codes, names or ALL, not ''"),
        (["--select", " ,"], "must be codes"),
        (["--select", "DLL9", "--select", ""], "must be codes"),
    ],
)
def test_a_bad_flag_is_told_with_what_is_allowed(capsys: Captured, arguments: list[str], told: str) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert told in capsys.readouterr().err


def test_bad_settings_are_told(here: Path, capsys: Captured) -> None:
    (here / "dllint.toml").write_text("colour = true\n")
    assert main([]) == 2
    assert "dllint.toml: unknown setting 'colour'" in capsys.readouterr().err
    assert main(["--isolated", "--show-settings"]) == 0


def test_a_name_with_terminal_codes_is_not_obeyed(capsys: Captured) -> None:
    assert main(["\x1b[2Jmissing\n.py"]) == 2
    err = capsys.readouterr().err
    assert "\x1b" not in err


# --- flags ---


@pytest.mark.usefixtures("stub")
def test_check_is_the_default_command(here: Path, capsys: Captured) -> None:
    (here / "a.py").write_text("bad\n")
    outputs = []
    for arguments in ([], ["."], ["check"], ["check", "."], ["a.py"]):
        assert main(arguments) == 1
        outputs.append(capsys.readouterr().out)
    assert set(outputs) == {"a.py:1:1: DLL901 This line is bad\n"}


@pytest.mark.usefixtures("stub")
def test_verbose_prints_the_way_and_the_help(here: Path, capsys: Captured) -> None:
    (here / "a.py").write_text("x\nbad\n")
    main(["-v"])
    assert capsys.readouterr().out.splitlines() == [
        "a.py:2:1: DLL901 This line is bad",
        "    a.py:1:1: the file starts here",
        "    help: make it less bad",
    ]


@pytest.mark.usefixtures("stub")
def test_output_goes_to_a_file(here: Path, capsys: Captured) -> None:
    (here / "a.py").write_text("bad\n")
    assert main(["--output-file", "out.json", "--output-format", "json"]) == 1
    assert capsys.readouterr().out == ""
    assert [item["code"] for item in json.loads((here / "out.json").read_text())] == ["DLL901"]


@pytest.mark.usefixtures("stub")
def test_several_reports_at_once(here: Path, capsys: Captured) -> None:
    (here / "a.py").write_text("bad\n")
    flags = ["--output-format", "sarif", "--output-file", "out.sarif", "--output-format", "gitlab"]
    assert main([*flags, "--output-file", "out.json", "--output-format", "concise"]) == 1
    assert json.loads(Path("out.sarif").read_text())["version"] == "2.1.0"
    assert len(json.loads(Path("out.json").read_text())) == len(capsys.readouterr().out.splitlines())


def test_two_reports_cannot_share_stdout(here: Path, capsys: Captured) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--output-format", "json", "--output-format", "github"])
    assert stop.value.code == 2
    assert "--output-file" in capsys.readouterr().err


@pytest.mark.usefixtures("stub")
def test_statistics_count(here: Path, capsys: Captured) -> None:
    (here / "a.py").write_text("bad\nbad\nodd\n")
    assert main(["--statistics"]) == 1
    assert capsys.readouterr().out.split() == ["2", "DLL901", "error", "bad-line", "1", "DLL902", "warning", "odd-line"]


def test_show_files_lists_targets(here: Path, capsys: Captured) -> None:
    for name in ("b.py", "a.py", "notes.txt"):
        (here / name).touch()
    assert main(["--show-files"]) == 0
    assert capsys.readouterr().out == "a.py\nb.py\n"
    assert main(["a.py", "--show-files", "--extend-exclude", "b.py"]) == 0
    assert capsys.readouterr().out == "a.py\n"


def test_show_settings_lists_what_holds(here: Path, capsys: Captured) -> None:
    (here / "dllint.toml").write_text('select = ["DLL0"]\nmax-workers = 5\nplatforms = ["darwin"]\n')
    assert main(["--show-settings", "--max-workers", "7"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert 'select = ["DLL0"]' in lines
    assert "max-workers = 7" in lines
    assert 'platforms = ["macos"]' in lines


@pytest.mark.usefixtures("stub")
def test_stdin_is_linted_under_the_given_name(here: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "pkg").mkdir()
    (here / "pkg/a.py").write_text("fine\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"x\nbad\n")))
    assert main(["-", "--stdin-filename", "pkg/a.py"]) == 1
    assert capsys.readouterr().out == "pkg/a.py:2:1: DLL901 This line is bad\n"


@pytest.mark.usefixtures("stub")
@pytest.mark.parametrize(
    ("variables", "flags", "colored"),
    [
        ({}, [], False),
        ({"FORCE_COLOR": "1"}, [], True),
        ({"FORCE_COLOR": "0"}, [], False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, [], False),
        ({"FORCE_COLOR": "1"}, ["--no-color"], False),
    ],
)
def test_color(
    here: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    flags: list[str],
    colored: bool,
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    (here / "a.py").write_text("bad\n")
    main(flags)
    assert ("\x1b[" in capsys.readouterr().out) is colored


def test_version(capsys: Captured) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"dllint {__version__}\n"


# --- rule and rules ---


@pytest.mark.usefixtures("stub")
@pytest.mark.parametrize("name", ["DLL901", "dll901", "bad-line"])
def test_rule_explains_one_rule(capsys: Captured, name: str) -> None:
    assert main(["rule", name]) == 0
    out = capsys.readouterr().out
    assert out.startswith("DLL901 bad-line\nerror; failure: stall; on by default; since 0.1\n")
    assert "What it does\n  Reports lines that are bad. Really." in out


@pytest.mark.usefixtures("stub")
def test_rules_lists_all_rules(capsys: Captured) -> None:
    assert main(["rules", "--output-format", "json"]) == 0
    items = json.loads(capsys.readouterr().out)
    assert [item["code"] for item in items] == list(RULES)
    assert items[2] == {
        "code": "DLL903",
        "name": "slow-line",
        "severity": "info",
        "failure": "stall",
        "opt_in": True,
        "since": "0.1",
        "evidence": None,
        "summary": "Reports lines that are slow.",
        "url": RULES["DLL903"].url,
    }
    assert main(["rules"]) == 0
    assert "DLL903  info     slow-line  Reports lines that are slow. (opt-in)" in capsys.readouterr().out


@pytest.mark.usefixtures("stub")
def test_rules_as_markdown_are_a_table_and_a_section_each(capsys: Captured) -> None:
    assert main(["rules", "--output-format", "markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "| [DLL901](#dll901-bad-line) | bad-line | error | stall | on |  | Reports lines that are bad. |" in lines
    assert "## DLL901 bad-line" in lines
    assert "### What it does" in lines


# --- as a process ---


def test_nothing_found_in_an_ordinary_project(here: Path) -> None:
    (here / "a.py").write_text("print('hello')\n")
    run = dllint(".")
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_a_file_that_does_not_parse_is_a_finding(here: Path) -> None:
    (here / "a.py").write_text("from torch.utils.data import DataLoader\n(\n")
    run = dllint("a.py")
    assert run.returncode == 1
    assert run.stdout.startswith("a.py:2:1: DLL001 ")


def test_a_reader_that_leaves_early_is_no_error(here: Path) -> None:
    (here / "a.py").write_text("import torch\n(\n")
    command = [sys.executable, "-m", "dllint", "rules", "--output-format", "markdown"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX does")
def test_ctrl_c_ends_without_a_traceback(here: Path) -> None:
    command = [sys.executable, "-m", "dllint", "-", "--stdin-filename", "a.py"]
    pipe = subprocess.PIPE
    # Under a shell that runs it in the background the signal arrives ignored.
    heard = partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, preexec_fn=heard) as process:
        time.sleep(1)  # it waits for its standard input by now
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        assert (process.returncode, err) == (130, b"")


def test_output_that_the_terminal_cannot_encode_comes_out_escaped(here: Path) -> None:
    (here / "ä漢.py").write_text("from torch.utils.data import DataLoader\n(\n")
    run = dllint(".", env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert run.returncode == 1
    assert run.stdout.startswith("\\xe4\\u6f22.py:2:1: DLL001")


def test_a_wrong_path_costs_no_other_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("from torch.utils.data import DataLoader\nDataLoader([1], num_workers=-1)\n")
    assert main(["nope.py", "a.py", "gone.py"]) == 2
    out, err = capsys.readouterr()
    assert "a.py:2:17: DLL405" in out
    assert err == "error: nope.py: No such file or directory\nerror: gone.py: No such file or directory\n"


def test_settings_that_are_no_file_are_refused(tmp_path: Path, capsys: Captured) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    assert main(["--config", str(tmp_path / "pipe.toml"), str(tmp_path)]) == 2
    assert "not a file" in capsys.readouterr()[1]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_is_an_error_not_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("from torch.utils.data import DataLoader\nDataLoader([1], num_workers=-1)\n")
    with open("/dev/full", "w") as full:
        run = subprocess.run([sys.executable, "-m", "dllint", "."], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE)
    assert (run.returncode, run.stderr) == (2, b"error: No space left on device\n")


def test_the_line_ends_of_old_macs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_bytes(b"from torch.utils.data import DataLoader\rDataLoader([1], num_workers=-1)\r")
    assert main(["a.py"]) == 1
    assert "a.py:2:17: DLL405" in capsys.readouterr()[0]
