"""Files for containers that cannot be read: which are told, and which are none of dllint's concern."""

from __future__ import annotations

from pathlib import Path

import pytest

from dllint.code.unreadable import Unreadable
from dllint.files import discover
from dllint.settings import Settings
from dllint.whole import WholeProject

LARGE = b"#" * 79 + b"\n"
MANIFEST = b"apiVersion: v1\nkind: ConfigMap\n"


def told(folder: Path, name: str, data: bytes, *, named: bool) -> list[str]:
    """The reasons that DLL001 gives for a file that is named, or found in its folder."""
    (folder / name).write_bytes(data)
    (project,) = discover([str(folder / name) if named else str(folder)], Settings())
    whole = WholeProject(project, Settings())
    whole.prepare()
    return [found.reason for found in whole.subjects(Unreadable.__name__)]


@pytest.mark.parametrize(
    ("name", "data", "named", "walked"),
    [
        ("Dockerfile", b"FROM a\nFOO bar\n", True, True),
        ("Dockerfile", b"FROM\nCMD a\n", True, True),
        ("Dockerfile", b"FROM a b\n", True, True),
        ("Dockerfile", b"FROM --platform=linux/amd64 a as b\nCOPY --from=c d e\n", False, False),
        ("Dockerfile", b"FROM a\nCOPY --chown=b c\n", True, True),
        ("Dockerfile", b"FROM a\nRUN <<EOF\necho\n", True, True),
        ("Dockerfile", b"FROM a\nRUN <<EOF\necho\nEOF\nCOPY <<-x <<y /z\n\tx\ny\n", False, False),
        ("Dockerfile.gpu", b"FROM a\nFOO bar\n", True, True),
        ("Dockerfile", b"RUN x\n", True, False),
        ("Dockerfile", "FROM a\nRUN b\n".encode("utf-16"), True, True),
        ("Dockerfile", b"\x7fELF\0\xff\xfe\0 x\n", True, False),
        ("Dockerfile.common", b"RUN x\n", False, False),
        ("Dockerfile.in", b"FROM a\nMACRO b\n", False, False),
        ("Dockerfile", b"FROM a\n{% if gpu %}\nFOO\n{% endif %}\n", False, False),
        ("Dockerfile", b"FROM a\nRUN b\n", False, False),
        ("Dockerfile", b"", False, False),
    ],
)
def test_dockerfile_that_docker_refuses(tmp_path: Path, name: str, data: bytes, named: bool, walked: bool) -> None:
    assert bool(told(tmp_path, name, data, named=True)) is named
    assert bool(told(tmp_path, name, data, named=False)) is walked


@pytest.mark.parametrize(
    ("start", "walked"), [(MANIFEST, True), (b"# x\nservices:\n  a:\n", True), (b"- services: 1\n", False)]
)
def test_a_file_that_is_too_large_is_told(tmp_path: Path, start: bytes, walked: bool) -> None:
    data = start + LARGE * 63_000
    assert told(tmp_path, "a.yaml", data, named=True) == ["larger than 5 MB"]
    assert told(tmp_path, "a.yaml", data, named=False) == (["larger than 5 MB"] if walked else [])
