"""What the file around a command says about it: pages for people, scripts, Makefiles."""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.deploy.shells import opens_shell
from dllint.deploy.workload import Workload
from dllint.kinds import Kind
from dllint.patterns import pattern

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan
    from dllint.deploy.texts import DeployFile

_PAGES = (".md", ".markdown", ".rst", ".txt")
_OTHER_CHAPTERS = pattern(
    r"^(?!.*train).*\b(?:convert(?:ing)?|conversion|inference|deploy(?:ing|ment)?|serv(?:e|ing)|export(?:ing)?|demos?|onnx|tensorrt|triton)\b",
    re.IGNORECASE,
)
"""Headings of pages under which nothing trains."""
_TO_FILL_IN = pattern(
    r"\.{3,}|\N{HORIZONTAL ELLIPSIS}|\[.*\]|<.*>|\{.*\}|(?:[A-Z]+_)*(?:CMD|COMMANDS?|ARGS?|ARGUMENTS|SCRIPT|PROGRAM)"
    r"|.*[<{\[][^<>{}\[\]]+[>}\]]\.py|(?:your|my)[-_](?:command|cmd|script|program)(?:\.py|\.sh)?"
)
"""What stands for a command, or a part of it, that the reader puts there."""
_FENCE = "```"
_ELSEWHERE = pattern(r"(?:sudo +)?(?:nvidia-docker|docker|podman|kubectl|ssh|srun|singularity|apptainer)\b")
"""What is not typed in a container, as a rule."""
_STARTS_PYTHON = pattern(r"(?:^|[\s;&])(?:python[\d.]*|torchrun|accelerate|deepspeed)\s")
_STARTS_SERVER = pattern(r"(?:uvicorn|gunicorn|hypercorn|streamlit|fastapi|flask)[ \t]")
_LEAVES = pattern(r"(?:exit|logout)(?: +0)?;?")
_INTERPRETERS = pattern(r"python[\d.]*|(?:ba)?sh|-[a-z]+")


def speaks_of_else(workload: Workload, plan: Plan) -> bool:
    """Whether a command on a page shows how to run anything in an image, or something that does not train."""
    if not workload.path.endswith(_PAGES):
        return False
    return _is_to_fill_in(workload.start.words) or _OTHER_CHAPTERS.search(_chapter(workload, plan)) is not None


def session(workload: Workload, plan: Plan) -> str:
    """What a Markdown page has people type in a container that it opens a shell in, up to where they leave it again, or
    to the end of a block that starts Python or a server; empty where they are given something to run, or are not seen
    to leave."""
    file = plan.by_path.get(workload.path)
    if file is None or file.kind is not Kind.MARKDOWN or not opens_shell(workload):
        return ""
    typed: list[str] = []
    is_code = continued = True
    for line in file.lines[workload.at.row - 1 :]:
        if continued:  # the command that opens the shell
            continued = line.rstrip().endswith("\\")
        elif line.lstrip().startswith(_FENCE):
            if any(_STARTS_PYTHON.search(each) or _STARTS_SERVER.match(each) for each in typed):
                return "\n".join(typed)  # the block that opens the shell says what is typed there
            is_code = not is_code
        elif is_code and (text := line.strip().removeprefix("$ ").removeprefix("# ")):
            if _LEAVES.fullmatch(text):
                return "\n".join(typed)
            if _ELSEWHERE.match(text):
                return ""
            typed.append(text)
    return ""


def _is_to_fill_in(command: tuple[str, ...]) -> bool:
    """Whether the reader has to say what runs; an unknown word is an empty one."""
    words = [word for word in command if not _INTERPRETERS.fullmatch(os.path.basename(word))]
    return bool(words) and all(not word or _TO_FILL_IN.fullmatch(word) for word in words)


def _chapter(workload: Workload, plan: Plan) -> str:
    """The heading that a command of a Markdown page stands under; empty elsewhere."""
    file = plan.by_path.get(workload.path)
    if file is None or file.kind is not Kind.MARKDOWN:
        return ""
    return plan.shared(_Pages).heading_of(file, workload.at.row)


class _Pages:
    """The headings of the project's Markdown pages."""

    def __init__(self, _: Plan) -> None:
        self._headings: dict[DeployFile, tuple[list[int], list[str]]] = {}

    def heading_of(self, file: DeployFile, row: int) -> str:
        """The last heading before a row; empty where there is none."""
        if file not in self._headings:
            found = list(_headings(file))
            self._headings[file] = [at for at, _ in found], [line for _, line in found]
        rows, lines = self._headings[file]
        before = bisect_left(rows, row)
        return lines[before - 1] if before else ""


def _headings(file: DeployFile) -> Iterator[tuple[int, str]]:
    is_code = False
    for row, line in enumerate(file.lines, 1):
        if line.lstrip().startswith(_FENCE):
            is_code = not is_code
        elif line.startswith(("#", "**")) and not is_code:
            yield row, line
