"""Dockerfiles -> instructions with exact rows.

dockerfile-parse cuts the text; what it reads otherwise than BuildKit does (here-documents, empty lines and comments
inside a continued line, the escape directive after others, a doubled escape at the end of a line) is left out or
masked before; the row of each line that is kept is known. tests/test_dockerfile.py compares the outcome with
BuildKit's own parser.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from typing import NamedTuple

from dllint.patterns import pattern
from dllint.syntax.python import CannotParseError

_DIRECTIVE = pattern(r"#\s*([a-zA-Z][a-zA-Z0-9]*)\s*=\s*(.+?)\s*$")
_DIRECTIVES = frozenset({"syntax", "escape", "check"})
_WITH_HEREDOCS = pattern(r"\s*(?:onbuild\s+)?(?:run|copy|add)\s", re.IGNORECASE)
_SHELL_WORD = pattern(r"""(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+""", re.DOTALL)
_HEREDOC = pattern(r"\d*<<(-?)([^<]+)$")
_QUOTES = pattern(r"[\"']|\\(?=.)")
_FLAG = pattern(r"\s*(--[a-z][a-z-]*(?:=\S*)?)")
_MOST_DIRECTIVES, _LONGEST_WORD = 5, 40
_FRONTENDS = frozenset({"dockerfile", "dockerfile-upstream"})
"""Images whose parser is docker's own; others may know further instructions."""
KEYWORDS = frozenset(
    [
        "ADD",
        "ARG",
        "CMD",
        "COPY",
        "ENTRYPOINT",
        "ENV",
        "EXPOSE",
        "FROM",
        "HEALTHCHECK",
        "LABEL",
        "MAINTAINER",
        "ONBUILD",
        "RUN",
        "SHELL",
        "STOPSIGNAL",
        "USER",
        "VOLUME",
        "WORKDIR",
    ]
)
"""The instructions of a Dockerfile."""
_KEEP = "\ue000"
"""Stands behind a doubled escape at the end of a line, which continues nothing; private use, no Dockerfile holds it."""


class HereDoc(NamedTuple):
    """The body of a here-document."""

    name: str
    text: str
    first: int
    """Row of its first line."""
    is_ended: bool = True
    """Whether its closing word is there."""


class Instruction(NamedTuple):
    """One instruction of a Dockerfile."""

    keyword: str
    """In upper case: `RUN`. Of `ONBUILD RUN ...` it is `RUN`."""
    text: str
    """What follows it, flags too, as one line."""
    first: int
    last: int
    """Its rows, with the bodies of its here-documents."""
    heredocs: tuple[HereDoc, ...] = ()
    on_build: bool = False
    """Whether it waits for the build of an image that starts from this one."""

    @property
    def flags(self) -> list[str]:
        """The flags before its arguments: `--from=build`."""
        found, _ = self._parted()
        return found

    @property
    def rest(self) -> str:
        """What follows the flags."""
        return self._parted()[1]

    def flag(self, name: str) -> str:
        """The value of a flag; empty where it is not given."""
        start = f"--{name}="
        return next((flag[len(start) :].strip("\"'") for flag in self.flags if flag.startswith(start)), "")

    def _parted(self) -> tuple[list[str], str]:
        flags, at = [], 0
        while found := _FLAG.match(self.text, at):
            flags.append(found[1])
            at = found.end()
        return flags, self.text[at:].lstrip()

    @property
    def json(self) -> list[str] | None:
        """The words of the JSON form, None for the shell form."""
        if not self.rest.startswith("["):
            return None
        import json

        try:
            words = json.loads(self.rest)
        except (ValueError, RecursionError):
            return None
        return words if isinstance(words, list) and all(isinstance(word, str) for word in words) else None

    @property
    def words(self) -> list[str]:
        """The arguments: of the JSON form, or parted at space, without quotes."""
        _, rest = self._parted()
        words = self.json if rest.startswith("[") else None
        return [unquoted(word) for word in _SHELL_WORD.findall(rest)] if words is None else words


def instructions(text: str) -> list[Instruction]:
    """The instructions of a Dockerfile whose text has no byte order mark, in order. Never raises: what is none of
    docker's instructions is an instruction, too."""
    from dockerfile_parse import DockerfileParser

    kept = _Kept(text)
    structure = DockerfileParser(fileobj=io.StringIO("\n".join((*kept.lines, "")))).structure
    found = ((entry["startline"], entry["instruction"], entry["value"]) for entry in structure)
    return [kept.instruction(*entry) for entry in found if entry[1] != "COMMENT"]


def refusal(text: str, found: Iterable[Instruction]) -> CannotParseError | None:
    """Why docker refuses the Dockerfile that has these instructions; None where it takes them, or that is not sure."""
    frontend = _frontend(text)
    if frontend and frontend not in _FRONTENDS:
        return None
    in_stage = False
    for each in found:
        in_stage = in_stage or (each.keyword == "FROM" and not each.on_build)
        if each.keyword not in KEYWORDS and not each.on_build:
            return _unknown(each)
        if not in_stage and (each.keyword != "ARG" or each.on_build):
            return CannotParseError(f"{each.keyword} stands before the first FROM", each.first)
        fault = _misused(each)
        if fault:
            return CannotParseError(fault, each.first)
    return None


def _misused(instruction: Instruction) -> str:
    """What is missing of an instruction, or too much; empty where nothing is."""
    unended = next((each.name for each in instruction.heredocs if not each.is_ended), None)
    if unended is not None:
        return f"the here-document <<{unended} has no end"
    if instruction.keyword == "FROM":
        words = instruction.rest.split()
        is_named = len(words) == 3 and words[1].lower() == "as"
        return "" if len(words) == 1 or is_named else "FROM takes `image` or `image AS name`"
    if instruction.keyword in ("COPY", "ADD") and len(instruction.words) < 2:
        return f"{instruction.keyword} takes a source and a destination"
    return ""


def _unknown(instruction: Instruction) -> CannotParseError | None:
    word = instruction.keyword
    if word.isascii() and word.isalpha() and len(word) <= _LONGEST_WORD:
        return CannotParseError(f"`{word}` is no instruction of a Dockerfile", instruction.first)
    if "\0" in word or "\ufffd" in word:
        return CannotParseError("binary data in the place of an instruction", instruction.first)
    return None


def _frontend(text: str) -> str:
    """The last name, without a tag, of the image that parses the Dockerfile; empty where its directive names none."""
    for line in text.split("\n", _MOST_DIRECTIVES)[:_MOST_DIRECTIVES]:
        found = _DIRECTIVE.match(line.removesuffix("\r"))
        if found is None:
            break
        if found[1].lower() == "syntax":
            return found[2].split()[0].rpartition("/")[2].partition("@")[0].partition(":")[0]
    return ""


def unquoted(word: str) -> str:
    """A shell word without its quotes and escapes."""
    return _QUOTES.sub("", word)


class _Kept:
    """The lines of a Dockerfile that say something, such that dockerfile-parse cuts them as BuildKit does."""

    def __init__(self, text: str) -> None:
        lines = text.removesuffix("\n").split("\n")
        self._given = [line.removesuffix("\r") for line in lines] if "\r" in text else lines
        self.escape = _escape(self._given)
        self.lines: list[str] = []
        self.rows: list[int] = []
        """The row of each kept line, from 0."""
        self._spans: dict[int, tuple[int, tuple[HereDoc, ...]]] = {}
        """First row -> last row and here-documents, counted from 0."""
        escape = re.escape(self.escape)
        self._continues = re.compile(rf"(?:^|[^{escape}]){escape}[ \t]*$")
        if self.escape != "\\":
            self._keep(0, f"# escape={self.escape}")
        row = 0
        while row < len(self._given):
            row = self._read(row)

    def instruction(self, number: int, keyword: str, text: str) -> Instruction:
        """The instruction that dockerfile-parse found at a kept line, as the file has it."""
        first = self.rows[number]
        last, heredocs = self._spans.get(first, (first, ()))
        on_build = keyword == "ONBUILD"
        if on_build:
            keyword, _, text = text.partition(" ")
            keyword = keyword.upper()
        return Instruction(keyword, text.replace(_KEEP, "").strip(), first + 1, last + 1, heredocs, on_build)

    def _keep(self, row: int, line: str) -> None:
        self.lines.append(line)
        self.rows.append(row)

    def _read(self, row: int) -> int:
        """Keep the lines of the instruction that starts in a row; the row after it and its here-documents."""
        line = self._given[row]
        if _is_void(line):
            return row + 1
        if self.escape in line or "<<" in line:
            return self._read_rows(row)
        self._keep(row, line)
        return row + 1

    def _read_rows(self, row: int) -> int:
        parts = self._continued(row)
        last = parts[-1][0]
        joined = "".join(text for _, text in parts)
        self._keep(row, joined)
        heredocs: tuple[HereDoc, ...] = ()
        end = last
        if "<<" in joined and _WITH_HEREDOCS.match(joined):
            end, heredocs = self._heredocs(joined.removesuffix(_KEEP), last)
        if end > row:
            self._spans[row] = (end, heredocs)
        return end + 1

    def _continued(self, row: int) -> list[tuple[int, str]]:
        """The rows of an instruction and what they say, here-documents aside. dockerfile-parse is given them as one,
        for it takes the square of their number."""
        parts: list[tuple[int, str]] = []
        while self._is_continued(line := self._given[row]):
            parts.append((row, line.rstrip(" \t")[:-1]))
            following = next((at for at in range(row + 1, len(self._given)) if not _is_void(self._given[at])), -1)
            if following < 0:
                return [*parts, (len(self._given) - 1, "")]
            row = following
        ends_so = self.escape in line and line.rstrip(" \t").endswith(self.escape)
        return [*parts, (row, line.rstrip(" \t") + _KEEP if ends_so else line)]

    def _is_continued(self, line: str) -> bool:
        return self.escape in line and self._continues.search(line) is not None

    def _heredocs(self, text: str, row: int) -> tuple[int, tuple[HereDoc, ...]]:
        """The bodies of the here-documents that an instruction opens which ends in a row, and the row they end in."""
        found = []
        for word in _SHELL_WORD.findall(text):
            opened = _HEREDOC.match(word)
            if opened is None:
                continue
            tabs, name = opened[1], unquoted(opened[2])
            first = row + 1
            row = next((at for at in range(first, len(self._given)) if _ends(self._given[at], name, tabs)), -1)
            is_ended = row >= 0
            row = row if is_ended else len(self._given) - 1
            found.append(HereDoc(name, "\n".join(self._given[first:row]), first + 1, is_ended))
        return row, tuple(found)


def _ends(line: str, name: str, tabs: str) -> bool:
    return (line.lstrip("\t") if tabs else line) == name


def _is_void(line: str) -> bool:
    """Whether a line is empty or a comment."""
    start = line.lstrip()
    return not start or start.startswith("#")


def _escape(lines: list[str]) -> str:
    """The escape character: a directive may name it, before anything else."""
    seen: set[str] = set()
    for line in lines:
        found = _DIRECTIVE.match(line)
        name = found[1].lower() if found else ""
        if found is None or name not in _DIRECTIVES or name in seen:
            break
        seen.add(name)
        if name == "escape":
            return found[2] if found[2] in ("\\", "`") else "\\"
    return "\\"
