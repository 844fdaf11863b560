"""The adapter around dockerfile-parse, compared with BuildKit's own parser where that can be installed."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dllint.syntax.dockerfile import Instruction, instructions, refusal

TRICKY = {
    "here-documents": "FROM a\nRUN cat <<EOF >x && cat <<-'B C' >y\nFROM z\nEOF\n\tq\n\tB C\nRUN c <<EOF;x\nEOF;x\n",
    "here-document behind a descriptor": "FROM a\nRUN 3<<E x\nE\nCOPY <<E <<F /d/\n1\nE\n2\nF\nENV A <<E\nRUN b\n",
    "here-document in a continued line": "FROM a\nRUN cat <<EOF && \\\n  # hi\n echo \\\n more\nFROM x\nEOF\nRUN y\n",
    "no here-document": "FROM a\nRUN echo '<<E' \"<<G\" <<<here $((1<<2))\nRUN b\n",
    "quoted name": 'FROM a\nADD <<"E F" /x\nz\nE F\n LABEL a=b\\\n c=d\n',
    "on build": "FROM a\nONBUILD RUN --mount=type=cache,target=/x pip install \\\n  torch\nonbuild copy . .\n",
    "comments and empty lines inside": 'FROM a\nRUN a \\\n\n  # c\n   b \\  \n c\n\n# z\nCMD ["a"]',
    "comments to the end": "FROM a\nRUN a \\\n# c\n\nRUN b \\\n # x\n\n",
    "continued at the end": "FROM a\nRUN x \\",
    "escape directive": "# syntax=a\n# escape=`\nFROM a\nRUN a `\n b\\\nRUN c",
    "escape directive with blanks": "#escape = \\ \nFROM a\nRUN a `\n#x\nRUN c\\\n#y\n d",
    "directive behind an empty line": "\n# escape=`\nFROM a\nRUN a\\\n b",
    "CRLF": "FROM a\r\nRUN echo x \\\r\n\r\n  # y\r\n  y\r\nRUN z <<E\r\nFROM b\r\nE\r\nRUN q\r\n",
    "keyword in a line of its own": "FROM a\nRUN\\\n echo x\n  RUN y\nR\\\nUN z\n",
    "doubled escape": "FROM a\nRUN echo foo\\\\\nRUN x\n",
    "only an escape": "FROM a\nRUN echo a\\\n\\\n  b\n",
    "lower case and flags": 'from a as b\nrun --network=none ["a", \\\n "b"]\ncopy --from=b /x /y\n',
    "without arguments": "FROM a\nRUN\nRUN b\nCOPY\n",
    "indented": "FROM a\n  # c\n\tRUN x\n\\\n FROM b\n",
    "no newline at the end": "FROM a\nEXPOSE 80",
}


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().lower()


def _shown(found: Instruction) -> tuple[Any, ...]:
    keyword = f"ONBUILD {found.keyword}" if found.on_build else found.keyword
    names = () if found.on_build else tuple(document.name for document in found.heredocs)
    return (found.first, found.last, _plain(f"{keyword} {found.text}"), names)


def _expected(text: str) -> list[tuple[Any, ...]]:
    oracle = pytest.importorskip("dockerfile", reason="BuildKit's parser is a wheel for x86_64 alone")
    found = []
    for command in oracle.parse_string(text):
        original = command.original.split("\n")[0] if command.heredocs else command.original
        names = tuple(document.name for document in command.heredocs)
        found.append((command.start_line, command.end_line, _plain(original), names))
    return found


@pytest.mark.parametrize("name", TRICKY)
def test_instructions_are_those_of_buildkit(name: str) -> None:
    assert [_shown(found) for found in instructions(TRICKY[name])] == _expected(TRICKY[name])


def test_the_body_of_a_here_document_is_kept_with_its_row() -> None:
    _, run, _ = instructions("FROM a\nRUN cat <<EOF && \\\n  bash <<-X\none\nEOF\n\ttwo\n\tX\nRUN b\n")
    assert [(document.name, document.text, document.first) for document in run.heredocs] == [
        ("EOF", "one", 4),
        ("X", "\ttwo", 6),
    ]
    assert (run.first, run.last) == (2, 7)


def test_flags_and_words_are_parted() -> None:
    _, run, copy = instructions('FROM a\nRUN --mount=type=tmpfs,target=/dev/shm df -h\nCOPY --from=b ["x y", "/z/"]\n')
    assert run.flag("mount") == "type=tmpfs,target=/dev/shm"
    assert run.words == ["df", "-h"]
    assert copy.flag("from") == "b"
    assert copy.words == ["x y", "/z/"]
    assert copy.json == ["x y", "/z/"]


@pytest.mark.parametrize("text", ["", "\n", "#", "\\", "RUN \\\n", "FROM a\nRUN <<\n", "{{ FROM }}\n<html>\n", "\0\0"])
def test_what_is_no_dockerfile_raises_nothing(text: str) -> None:
    assert all(found.first <= found.last for found in instructions(text))


@pytest.mark.parametrize("name", sorted(TRICKY.keys() - {"without arguments"}))  # which BuildKit refuses after parsing
def test_what_buildkit_takes_is_not_refused(name: str) -> None:
    assert refusal(TRICKY[name], instructions(TRICKY[name])) is None


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("FROM a\nRUN b \\\n  c\nFOO bar\n", 4),
        ("FROM a\nRUN\nRUN b\nCOPY\n", 4),
        ("FROM a\nFROM b as\n", 2),
        ("FROM a\nRUN <<EOF\nb\n", 2),
        ("# syntax=docker/dockerfile:1\nFROM a\nCOPPY a b\n", 3),
        ("ARG a\nRUN x\nFROM b\n", 2),
        ("ONBUILD RUN x\nFROM b\n", 1),
        ("FROM a\n\0\1 x\n", 2),
    ],
)
def test_what_docker_refuses_is_told_with_its_row(text: str, row: int) -> None:
    fault = refusal(text, instructions(text))
    assert fault is not None
    assert fault.row == row


@pytest.mark.parametrize(
    "text",
    [
        "# syntax = devthefuture/dockerfile-x\nINCLUDE base\nFROM a\n",
        "FROM a\n@EXTRA@\n$MORE x\n",
        "FROM a\nRUN <<EOF\nFOO bar\nEOF\n",
        "",
    ],
)
def test_what_may_be_a_dockerfile_of_another_kind_is_not_refused(text: str) -> None:
    assert refusal(text, instructions(text)) is None
