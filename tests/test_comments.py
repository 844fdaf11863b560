"""`--add-noqa`: the comments stand where they suppress, the files say what they said, and keep their bytes."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from dllint.cli import main
from dllint.files import Kind
from dllint.meaning import meaning

HEAD = "from torch.utils.data import DataLoader\n\n\n"
TRAIN = HEAD + "def load(rows):\n    return DataLoader(rows, num_workers=4)\n"
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def here(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty project as the current folder. Its path says nothing of tests."""
    folder = tmp_path_factory.mktemp("clips")
    (folder / ".git").mkdir()
    monkeypatch.chdir(folder)


def annotated(name: str, text: str | bytes, capsys: Captured, *flags: str) -> bytes:
    """The bytes of a file after `--add-noqa`, which leaves nothing to report, and nothing to do for another run."""
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    assert main([*flags]) == 1
    assert main(["--add-noqa", *flags]) == 0
    after = path.read_bytes()
    assert main([*flags]) == 0
    assert main(["--add-noqa", *flags]) == 0
    assert path.read_bytes() == after
    assert capsys.readouterr().err.endswith("Suppressed 0 findings by comments in 0 files.\n")
    return after


@pytest.mark.parametrize(
    ("call", "after"),
    [
        ("DataLoader(x, timeout=-1)\n", "DataLoader(x, timeout=-1)  # noqa: DLL405\n"),
        ("DataLoader(x, timeout=-1)", "DataLoader(x, timeout=-1)  # noqa: DLL405"),
        ("DataLoader(x, timeout=-1)  # why\n", "DataLoader(x, timeout=-1)  # why  # noqa: DLL405\n"),
        ("DataLoader(x, timeout=-1)  # noqa: E501 \n", "DataLoader(x, timeout=-1)  # noqa: E501, DLL405 \n"),
        ("DataLoader(x, timeout=-1)  # NOQA:E501,W1\n", "DataLoader(x, timeout=-1)  # NOQA:E501,W1, DLL405\n"),
        (
            "DataLoader(x, timeout=-1)  # dllint: ignore[DLL2] old\n",
            "DataLoader(x, timeout=-1)  # dllint: ignore[DLL2, DLL405] old\n",
        ),
        ("DataLoader(x, timeout=-1)  # '# noqa' x\n", "DataLoader(x, timeout=-1)  # '# noqa' x\n"),
        ("DataLoader(\n    x,\n    timeout=-1,\n)\n", "DataLoader(\n    x,\n    timeout=-1,  # noqa: DLL405\n)\n"),
        (
            "DataLoader(x, timeout=-1), '''\n# noqa: E1\n'''\n",
            "DataLoader(x, timeout=-1), '''\n# noqa: E1\n'''  # noqa: DLL405\n",
        ),
        ("DataLoader(x, timeout=-1), \\\n    1\n", "DataLoader(x, timeout=-1), \\\n    1  # noqa: DLL405\n"),
        ("'#', DataLoader(x, timeout=-1)\n", "'#', DataLoader(x, timeout=-1)  # noqa: DLL405\n"),
        (
            "DataLoader(x, num_workers=0, timeout=-1, prefetch_factor=2)\n",
            "DataLoader(x, num_workers=0, timeout=-1, prefetch_factor=2)  # noqa: DLL402, DLL405\n",
        ),
    ],
)  # fmt: skip
def test_python(call: str, after: str, capsys: Captured) -> None:
    head = HEAD + "y = "
    if call == after:  # a comment that suppresses already
        Path("train.py").write_text(head + call)
        assert main([]) == 0
        return
    assert annotated("train.py", head + call, capsys) == (head + after).encode()
    assert ast.dump(ast.parse(head + call)) == ast.dump(ast.parse(head + after))


@pytest.mark.parametrize(
    ("end", "encoding"), [("\n", "utf-8"), ("\r\n", "utf-8-sig"), ("\r", "utf-8"), ("\r\n", "latin-1")]
)
def test_line_ends_and_encodings_are_kept(end: str, encoding: str, capsys: Captured) -> None:
    cookie = "# coding: latin-1\n" if encoding == "latin-1" else ""
    text = (cookie + HEAD + "s = 'é'\ny = DataLoader(x, timeout=-1)\n").replace("\n", end)
    wanted = text.replace("-1)", "-1)  # noqa: DLL405")
    assert annotated("train.py", text.encode(encoding), capsys) == wanted.encode(encoding)


def test_yaml(capsys: Captured) -> None:
    Path("train.py").write_text(TRAIN)
    text = "services:\r\n  train:\r\n    image: pytorch/pytorch\r\n    command: python train.py\r\n"
    after = annotated("compose.yaml", text, capsys)
    assert after == text.replace("train:\r", "train:  # noqa: DLL701\r").encode()


def test_commands_in_workflows(capsys: Captured) -> None:
    Path("train.py").write_text(TRAIN)
    head = "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: |\n"
    run = "          docker run \\\n            --gpus all pytorch/pytorch python train.py\n"
    after = annotated(".github/workflows/a.yml", head + run, capsys)
    assert after == (head + "          # dllint: ignore[DLL701]\n" + run).encode()
    folded = head.replace("|", ">") + run.replace("\\\n  ", "")
    Path(".github/workflows/a.yml").write_text(folded)
    capsys.readouterr()
    assert main(["--add-noqa"]) == 1  # a comment would swallow what follows: it is reported instead
    assert Path(".github/workflows/a.yml").read_text() == folded
    assert "a.yml:7:11: DLL701" in capsys.readouterr().out


def test_shell(capsys: Captured) -> None:
    Path("train.py").write_text(TRAIN)
    text = "#!/bin/sh\nset -e\ndocker run \\\n  --gpus all pytorch/pytorch python train.py"
    after = annotated("run.sh", text, capsys)
    assert after == text.replace("docker", "# dllint: ignore[DLL701]\ndocker").encode()
    text = "docker run --gpus all pytorch/pytorch python train.py\n"
    assert annotated("run.sh", text, capsys) == text.replace("\n", "  # noqa: DLL701\n").encode()


def test_dockerfile(capsys: Captured) -> None:
    Path("train.py").write_text(TRAIN)
    text = "# syntax=docker/dockerfile:1\r\nFROM pytorch/pytorch\r\nVOLUME /dev/shm\r\nCMD python train.py\r\n"
    after = annotated("Dockerfile", text, capsys)
    assert after == text.replace("VOLUME", "# dllint: ignore[DLL704]\r\nVOLUME").encode()


def test_notebooks_are_left_alone_and_that_is_said(capsys: Captured) -> None:
    source = json.dumps((HEAD + "loader = DataLoader([1], num_workers=-1)\n").splitlines(keepends=True))
    text = f'{{"nbformat": 4, "cells": [{{"cell_type": "code", "source": {source}}}]}}'
    Path("train.ipynb").write_text(text)
    assert main(["--add-noqa"]) == 1
    told = capsys.readouterr()
    assert "--add-noqa does not write into notebooks: 1 finding in notebooks left." in told.err
    assert "train.ipynb:cell 1:" in told.out
    assert Path("train.ipynb").read_text() == text


def test_what_cannot_be_suppressed_is_reported_and_left_alone(capsys: Captured) -> None:
    Path("train.py").write_text("from torch.utils.data import DataLoader\ndef f(:\n")
    Path("Makefile").write_text("train:\n\tdocker run --gpus all pytorch/pytorch python good.py\n")
    Path("good.py").write_text(TRAIN)
    assert main(["--add-noqa"]) == 1
    told = capsys.readouterr()
    assert [line.split()[1] for line in told.out.splitlines()] == ["DLL701", "DLL001"]
    assert Path("train.py").read_text().endswith("def f(:\n")
    assert "noqa" not in Path("Makefile").read_text()


def test_only_what_is_new_gets_comments(capsys: Captured) -> None:
    line = "y = DataLoader(x, timeout=-1)\n"
    Path("train.py").write_text(HEAD + line)
    main(["--baseline", "known.json", "--write-baseline"])
    Path("train.py").write_text(HEAD + line + line.replace("y", "z"))
    assert main(["--baseline", "known.json", "--add-noqa"]) == 0
    assert Path("train.py").read_text() == HEAD + line + "z = DataLoader(x, timeout=-1)  # noqa: DLL405\n"


@pytest.mark.parametrize("flags", [["--fix"], ["--diff"], ["-"], ["--write-baseline"]])
def test_what_makes_no_sense_together_is_refused(flags: list[str], capsys: Captured) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--add-noqa", *flags])
    assert stopped.value.code == 2


@pytest.mark.parametrize(
    ("kind", "text", "other", "same"),
    [
        (Kind.YAML, "a: 1\n", "a: 1 # x\n", True),
        (Kind.YAML, "a: >\n  b\n  c\n", "a: >\n  b # x\n  c\n", False),
        (Kind.YAML, "a: |\n  b\n  c\n", "a: |\n  b # x\n  c\n", True),
        (Kind.YAML, "a: |\n  b \\\n  c\n", "a: |\n  b \\\n  # x\n  c\n", False),
        (Kind.YAML, "a: 'b\n  c'\n", "a: 'b # x\n  c'\n", False),
        (Kind.SHELL, "a <<E\nb\nE\n", "a <<E\nb # x\nE\n", False),
        (Kind.SHELL, "a 'b\nc'\n", "a 'b # x\nc'\n", False),
        (Kind.DOCKERFILE, "FROM a\nRUN b \\\n c\n", "FROM a\nRUN b \\\n# x\n c\n", True),
        (Kind.DOCKERFILE, "FROM a\n", "FROM a # x\n", False),
        (Kind.DOCKERFILE, "FROM a\nRUN <<E\nb\nE\n", "FROM a\nRUN <<E\n# x\nb\nE\n", False),
    ],
)
def test_comments_change_nothing_and_all_else_does(kind: Kind, text: str, other: str, same: bool) -> None:
    assert (meaning(text, kind) == meaning(other, kind)) is same
