"""`dllint rule SYMPTOM`: from the text of an error to the rules that find its causes."""

from __future__ import annotations

import json

import pytest

from dllint.cli import main
from dllint.diagnose.symptoms import rules_about
from dllint.registry import registry

Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("symptom", "first"),
    [
        ("Bus error", "DLL701"),
        ("bus   ERROR", "DLL701"),
        ("received 0 items of ancdata", "DLL206"),
        ("RuntimeError: DataLoader worker (pid 4242) is killed by signal: Bus error. It is possible that", "DLL701"),
        ("Can't get local object 'build.<locals>.crop'", "DLL502"),
        ("lmdb.ReadersFullError: mdb_txn_begin: MDB_READERS_FULL", "DLL210"),
        ("persistent_workers option needs num_workers > 0", "DLL401"),
        ("out of memory maps", "DLL206"),
        ("OOM", "DLL706"),
        ("BrokenPipeError: [Errno 32] Broken pipe", "DLL501"),
        ("Ran out of input", "DLL502"),
        ("WinError 1455", "DLL706"),
        ("freeze_support", "DLL501"),
        ("segfault", "DLL201"),
    ],
)
def test_the_rule_that_comes_first(symptom: str, first: str) -> None:
    assert rules_about(symptom)[0].code == first


def test_what_the_text_names_comes_before_what_the_class_has() -> None:
    codes = [rule.code for rule in rules_about("RuntimeError: DataLoader worker (pid 7) is killed by signal: Killed.")]
    assert codes.index("DLL301") < codes.index("DLL106")


def test_rules_are_listed(capsys: Captured) -> None:
    assert main(["rule", "bus", "error"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("DLL701  error")
    assert main(["rule", "Bus error", "--output-format", "json"]) == 0
    assert [each["code"] for each in json.loads(capsys.readouterr().out)] == [line[:6] for line in out.splitlines()]


@pytest.mark.parametrize("symptom", ["no such thing anywhere", "DLL999", "dll1", "?", "", " "])
def test_nothing_speaks_of_it(symptom: str, capsys: Captured) -> None:
    assert main(["rule", symptom]) == 2
    assert f"no rule is called {symptom!r}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("DLL101", "Cannot re-initialize CUDA in forked subprocess"),
        ("DLL104", "cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned"),
        ("DLL106", "daemonic processes are not allowed to have children"),
        ("DLL203", "Too many open files"),
        ("DLL206", "received 0 items of ancdata"),
        ("DLL301", "killed by signal: Killed"),
        ("DLL404", "sampler option is mutually exclusive with shuffle"),
        ("DLL405", "batch_size should be a positive integer value, but got"),
        ("DLL407", "Our suggested max number of worker in current system is"),
        ("DLL409", "DataLoader timed out after"),
        ("DLL501", "finished its bootstrapping phase"),
        ("DLL503", "context has already been set"),
        ("DLL505", "A SemLock created in a fork context is being shared with a process in a spawn context"),
        ("DLL507", "too many fds"),
        ("DLL603", "batch must contain tensors, numpy arrays, numbers, dicts or lists"),
        ("DLL702", "unable to allocate shared memory(shm)"),
        ("DLL711", "is killed by signal: Bus error"),
    ],
)
def test_documentation_quotes_what_torch_says(code: str, text: str) -> None:
    section = registry()[code].sections["Why it breaks workers"]
    assert text in " ".join(section.split())
