"""`dllint diagnose` as a command: what it shows, what it hides, and the lines of the project that it leads to."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from dllint.cli import main
from dllint.diagnose.diagnosis import evidence_of
from dllint.diagnose.masking import masked
from harness import ROOT
from logs import (
    EXITED,
    KILLED,
    NO_SHM,
    STARTING,
    WAITING,
    caught,
    traceback,
)

Captured = pytest.CaptureFixture[str]


# Secrets


@pytest.mark.parametrize(
    "text",
    [
        "key AKIAIOSFODNN7SECRET1 refused",
        "aws_secret_access_key=wJalrXUtnSECRETFEMI/K7MDENG+bPxRfi",
        "WANDB_API_KEY: 0123456789abcdef0123456789abcdef01SECRET",
        "wandb login 0123456789abcdef0123456789abcdef01234567",
        "token='hf_abcdefSECRETabcdef'",
        "pushing with hf_abcdefSECRETabcdef",
        "clone https://user:SECRET@git.example.org/a.git",
        "clone https://ghp_abcdefSECRETabcdef0123@git.example.org/a.git",
        "Authorization: Bearer SECRET.abc-def",
        '{"password": "SECRET with spaces"}',
        "DB_PASSWORD=SECRET,host=db",
        "eyJhbGciOiJIUzI1NiJ9.SECRETeyJzdWIi.SflKxwRJSMeKKF2QT4",
        "--api-key=sk-proj-SECRET0123456789abcdef",
        "train.py --token SECRET",
        "train.py --hf_token 'SECRET with spaces' --epochs 3",
        "train.py --secret SECRET",
        "mysql --password SECRET",
        "connect host=db pwd=SECRET",
        "DB_PASS=SECRET",
        "GET https://store/data.tar?sig=SECRET&se=2026",
        "GET https://store/data.tar?X-Amz-Date=1&X-Amz-Signature=SECRET",
        "Cookie: session=SECRET; theme=SECRET",
        "{'Set-Cookie': 'session=SECRET; Path=/'}",
        "-----BEGIN RSA PRIVATE KEY----- MIISECRET SECRET",
        "-----BEGIN PRIVATE KEY-----\\nSECRET\\n-----END PRIVATE KEY-----",
    ],
)
def test_secrets_are_masked(text: str) -> None:
    assert "SECRET" not in masked(text) and "0123456789abcdef0123" not in masked(text)
    assert "***" in masked(text)


@pytest.mark.parametrize(
    "text",
    [
        NO_SHM,
        "KeyError: 'file_17.jpg'",
        "tokens per second: 812",
        "tokenizer=bert, key 7 missing",
        "forward pass: 0.3 s, bypass=1, sigma=0.1",
        "the token was lost",
        "--pass --tokens 3",
    ],
)
def test_nothing_else_is_masked(text: str) -> None:
    assert masked(text) == text


def test_what_stands_behind_a_value_stays() -> None:
    text = "--token SECRET Cookie: a=SECRET; b=SECRET ?sig=SECRET RuntimeError: received 0 items of ancdata"
    assert masked(text) == "--token *** Cookie: *** ?sig=*** RuntimeError: received 0 items of ancdata"


@pytest.mark.parametrize("width", range(100, 140, 3))
def test_a_line_that_is_cut_between_an_option_and_its_value(width: int) -> None:
    text = f"{'step ' * 80}--token SECRET {'x' * width}"
    assert "SECRET" not in evidence_of(1, f"{text} received 0 items of ancdata", len(text) + 1).text


def test_only_the_line_itself_is_shown(capsys: Captured, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(f"export KEY=abc\nHF_TOKEN=hf_secretsecret12 RuntimeError: {NO_SHM}\nPASSWORD=other\n")
    assert main(["diagnose", str(log), "--project", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "HF_TOKEN=***" in out and "secretsecret" not in out and "abc" not in out and "PASSWORD" not in out


# The command


def diagnosed(capsys: Captured, tmp_path: Path, log: str, project: Path) -> list[dict[str, Any]]:
    path = tmp_path / "train.log"
    path.write_text(log)
    assert main(["diagnose", str(path), "--project", str(project), "--output-format", "json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def test_json_lists_the_first_cause_first(capsys: Captured, tmp_path: Path) -> None:
    first, second = diagnosed(capsys, tmp_path, KILLED + EXITED, tmp_path)
    assert (first["class"], first["name"], first["follower"]) == ("B", "worker killed", False)
    assert first["evidence"] == [{"line": 6, "text": KILLED.splitlines()[-1].strip()}]
    assert "DLL301" in first["rules"] and "num_workers=0 is a diagnosis, not a fix" in first["fix"]
    assert first["meaning"] and first["checks"] and first["findings"] == []
    assert (second["name"], second["follower"]) == ("worker exited", True)


def test_text_tells_what_to_do(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(KILLED + EXITED)
    assert main(["diagnose", str(path), "--project", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("B (worker died): worker killed\n")
    assert f"{path}:6: RuntimeError: DataLoader worker (pid 28) is killed by signal: Killed." in out
    assert 'dmesg -T | grep -i "killed process"' in out
    assert "followed by B (worker died): worker exited\n" in out


def test_nothing_recognised(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("epoch 1\nOSError: [Errno 28] No space left on device: '/checkpoints/3.pt'\n")
    assert main(["diagnose", str(path)]) == 1
    out = capsys.readouterr().out
    assert "nothing recognised" in out and f"{path}:2: OSError" in out
    assert main(["diagnose", str(path), "--output-format", "json"]) == 1
    assert json.loads(capsys.readouterr().out) == []


def test_standard_input(capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (["diagnose"], ["diagnose", "-"]):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(KILLED.encode())))
        assert main(words) == 0
        assert "<stdin>:6: " in capsys.readouterr().out


@pytest.mark.parametrize("words", [["missing.log"], [".", "--project", "."], ["train.log", "--project", "missing"]])
def test_what_cannot_be_read(
    words: list[str], capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.log").write_text("")
    assert main(["diagnose", *words]) == 2
    assert capsys.readouterr().err.startswith("error: ")


# The project


SHOWCASE = ROOT / "fixtures" / "showcase"


@pytest.mark.parametrize(
    ("log", "code", "place"),
    [
        (NO_SHM + "\n", "DLL701", "docker-compose.yml"),
        (KILLED, "DLL301", "data.py"),
        (
            caught("RuntimeError", last="RuntimeError: Cannot re-initialize CUDA in forked subprocess."),
            "DLL101",
            "transforms.py",
        ),
        ("zipfile.BadZipFile: Bad CRC-32 for file 'a.npy'\n", "DLL201", "data.py"),
        ("ValueError: persistent_workers option needs num_workers > 0\n", "DLL401", "train.py"),
        (
            traceback(*STARTING, last="AttributeError: Can't pickle local object 'f.<locals>.<lambda>'"),
            "DLL502",
            "transforms.py",
        ),
        ("        current process has finished its bootstrapping phase.\n", "DLL501", "evaluate.py"),
        ("RuntimeError: received 0 items of ancdata\n", "DLL206", "evaluate.py"),
        (
            "UserWarning: Length of IterableDataset <data.Soundscape object at 0x7f0> was reported to be 90"
            "(when accessing len(dataloader)), but 91 samples have been fetched. For multiprocessing data-loading, this"
            " could be caused by not properly configuring the IterableDataset replica at each worker.\n",
            "DLL601",
            "data.py",
        ),
        ("UserWarning: Our suggested max number of worker in current system is 2, which\n", "DLL407", "evaluate.py"),
    ],
)
def test_each_class_leads_to_the_line_that_causes_it(
    log: str, code: str, place: str, capsys: Captured, tmp_path: Path
) -> None:
    project = shutil.copytree(SHOWCASE, tmp_path / "birdsong")
    first = diagnosed(capsys, tmp_path, log, project)[0]["findings"][0]
    assert (first["code"], Path(first["filename"]).name) == (code, place)


def test_the_file_in_the_traceback_comes_first(capsys: Captured, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(
            "from torch.utils.data import DataLoader, Dataset\n\n\n"
            f"class {name.title()}(Dataset):\n"
            "    def __init__(self, path):\n        self.file = open(path, 'rb')\n\n"
            "    def __len__(self):\n        return 9\n\n"
            "    def __getitem__(self, i):\n        self.file.seek(i)\n        return self.file.read(1)[0]\n\n\n"
            "def main():\n"
            f"    for batch in DataLoader({name.title()}('x'), num_workers=4):\n        print(batch)\n\n\n"
            "if __name__ == '__main__':\n    main()\n"
        )
    for name in ("one", "two"):
        log = caught("ValueError", f"/workspace/src/{name}.py __getitem__", last="ValueError: bad magic")
        findings = diagnosed(capsys, tmp_path, log, tmp_path)[0]["findings"]
        handles = [Path(each["filename"]).name for each in findings if each["code"] == "DLL201"]
        assert handles[0] == f"{name}.py" and len(handles) == 2
        assert findings[0]["related"]


BUS_ERROR = (
    "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).\n\0"
)
KILLED_BY_BUS_ERROR = "RuntimeError: DataLoader worker (pid 81) is killed by signal: Bus error. It is possible that"
CAUSED = "\nThe above exception was the direct cause of the following exception:\n\n"


@pytest.mark.parametrize(
    "rest",
    [
        traceback("/srv/train.py main", *WAITING, last=KILLED_BY_BUS_ERROR),
        traceback(*WAITING, last=KILLED_BY_BUS_ERROR)
        + CAUSED
        + traceback(
            "/srv/train.py main", *WAITING, last="RuntimeError: DataLoader worker (pid(s) 81) exited unexpectedly"
        ),
        traceback("/srv/train.py main", *WAITING, last=NO_SHM),
    ],
    ids=["same failure", "symptom", "same class"],
)
def test_the_traceback_may_come_after_the_message_of_the_signal_handler(
    rest: str, capsys: Captured, tmp_path: Path
) -> None:
    (tmp_path / ".devcontainer").mkdir()
    (tmp_path / ".devcontainer" / "devcontainer.json").write_text(
        '{"image": "pytorch/pytorch", "postCreateCommand": "python train.py"}'
    )
    (tmp_path / "train.py").write_text(
        "import torch\nfrom torch.utils.data import DataLoader, Dataset\n\n\n"
        "class Images(Dataset):\n"
        "    def __len__(self):\n        return 999\n\n"
        "    def __getitem__(self, i):\n        return torch.zeros(3, 2048, 2048)\n\n\n"
        "def main():\n"
        "    loader = DataLoader(Images(), batch_size=64, num_workers=64, prefetch_factor=16)\n"
        "    for batch in loader:\n        print(batch)\n\n\n"
        "if __name__ == '__main__':\n    main()\n"
    )
    found = diagnosed(capsys, tmp_path, BUS_ERROR + rest, tmp_path)
    assert found[0]["name"] == "bus error"
    assert [Path(each["filename"]).name for each in found[0]["findings"]][:2] == ["train.py", "devcontainer.json"]
