"""Dockerfiles -> instructions with exact rows.

dockerfile-parse cuts the text; what it reads otherwise than BuildKit does (here-documents, empty lines and comments
inside a continued line, the escape directive after others, a doubled escape at the end of a line) is masked before,
line for line, so that rows stay true. tests/test_dockerfile.py compares the outcome with BuildKit's own parser.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable
from typing import NamedTuple

from dllint.syntax.python import CannotParseError

_DIRECTIVE = re.compile(r"#\s*([a-zA-Z][a-zA-Z0-9]*)\s*=\s*(.+?)\s*$")
_DIRECTIVES = frozenset({"syntax", "escape", "check"})
_WITH_HEREDOCS = re.compile(r"\s*(?:onbuild\s+)?(?:run|copy|add)\s", re.IGNORECASE)
_SHELL_WORD = re.compile(r"""(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+""", re.DOTALL)
_HEREDOC = re.compile(r"\d*<<(-?)([^<]+)$")
_QUOTES = re.compile(r"[\"']|\\(?=.)")
_MOST_CHARACTERS = 500_000
"""What is read of a Dockerfile: a longer one was made by a program, and a long instruction costs its square."""
_FLAG = re.compile(r"--[a-z][a-z-]*(?:=\S*)?")
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
_MOST_GLUED = 50
"""Rows that a keyword may be spread over."""
_KEEP = "\ue000"
"""Stands behind a doubled escape at the end of a line, which continues nothing; private use, no Dockerfile holds it."""


class HereDoc(NamedTuple):
    """The body of a here-document."""

    name: str
    text: str
    first: int
    """Row of its first line."""


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
        rest, flags = self.text.lstrip(), []
        while found := _FLAG.match(rest):
            flags.append(found[0])
            rest = rest[found.end() :].lstrip()
        return flags, rest

    @property
    def json(self) -> list[str] | None:
        """The words of the JSON form, None for the shell form."""
        if not self.rest.startswith("["):
            return None
        try:
            words = json.loads(self.rest)
        except (ValueError, RecursionError):
            return None
        return words if isinstance(words, list) and all(isinstance(word, str) for word in words) else None

    @property
    def words(self) -> list[str]:
        """The arguments: of the JSON form, or parted at space, without quotes."""
        return self.json if self.json is not None else [unquoted(word) for word in _SHELL_WORD.findall(self.rest)]


def instructions(text: str) -> list[Instruction]:
    """The instructions of a Dockerfile whose text has no byte order mark, in order. Never raises: what is none of
    docker's instructions is an instruction, too."""
    from dockerfile_parse import DockerfileParser

    masked = _Masked(text[:_MOST_CHARACTERS])
    structure = DockerfileParser(fileobj=io.StringIO("\n".join((*masked.lines, "")))).structure
    found = [(entry["startline"], entry["instruction"], entry["value"]) for entry in structure]
    return [masked.instruction(*entry) for entry in sorted(found) if entry[1] != "COMMENT"]


def refusal(text: str, found: Iterable[Instruction]) -> CannotParseError | None:
    """Why docker refuses the Dockerfile that has these instructions; None where it takes them, or that is not sure."""
    frontend = _frontend(text)
    if len(text) > _MOST_CHARACTERS or (frontend and frontend not in _FRONTENDS):
        return None
    in_stage = False
    for each in found:
        in_stage = in_stage or (each.keyword == "FROM" and not each.on_build)
        if each.keyword not in KEYWORDS and not each.on_build:
            return _unknown(each)
        if not in_stage and (each.keyword != "ARG" or each.on_build):
            return CannotParseError(f"{each.keyword} stands before the first FROM", each.first)
    return None


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


class _Masked:
    """The lines of a Dockerfile, as many as before, so that dockerfile-parse cuts them as BuildKit does."""

    def __init__(self, text: str) -> None:
        self._given = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
        self.escape = _escape(self._given)
        self.lines = list(self._given)
        self.spans: dict[int, tuple[int, tuple[HereDoc, ...]]] = {}
        """First row -> last row and here-documents, counted from 0."""
        escape = re.escape(self.escape)
        self._continues = re.compile(rf"(?:^|[^{escape}]){escape}[ \t]*$")
        row = 0
        while row < len(self.lines):
            row = self._mask(row)
        if self.escape != "\\":
            self.lines[0] = f"# escape={self.escape}"

    def instruction(self, first: int, keyword: str, text: str) -> Instruction:
        """The instruction that dockerfile-parse found in these lines, as the file has it."""
        last, heredocs = self.spans.get(first, (first, ()))
        on_build = keyword == "ONBUILD"
        if on_build:
            keyword, _, text = text.partition(" ")
        return Instruction(keyword.upper(), text.replace(_KEEP, "").strip(), first + 1, last + 1, heredocs, on_build)

    def _mask(self, row: int) -> int:
        """Mask the comment, or the instruction, that starts in a row; the row after it."""
        if _is_void(self._given[row]):
            self.lines[row] = "#"
            return row + 1
        last = self._mask_continued(row)
        text = "\n".join(self._given[row : last + 1])
        heredocs: tuple[HereDoc, ...] = ()
        end = last
        if "<<" in text and _WITH_HEREDOCS.match(text):
            end, heredocs = self._mask_heredocs(self._joined(row, last), last)
        if end > row:
            self.spans[row] = (end, heredocs)
        return end + 1

    def _mask_continued(self, row: int) -> int:
        """Mask the lines of an instruction; its last row, here-documents aside."""
        first = row
        while self._continues.search(self._given[row]):
            written = row
            row = next((at for at in range(row + 1, len(self.lines)) if not _is_void(self._given[at])), -1)
            if row < 0:
                row = len(self.lines) - 1
                self.lines[written] = self._cut(self._given[written])
                break
            self.lines[written + 1 : row] = ["#"] * (row - written - 1)
        else:
            if self._given[row].rstrip(" \t").endswith(self.escape):
                self.lines[row] = self._given[row].rstrip(" \t") + _KEEP
        self._unglue(first, row)
        return row

    def _unglue(self, first: int, last: int) -> None:
        """`RUN\\` in a row of its own: draw up what follows, for the keyword has to end in its first row."""
        row = first
        end = min(last, first + _MOST_GLUED)
        while row < end and len(self.lines[first].split(None, 1)) < 2 and not self.lines[first][-1:].isspace():
            row += 1
            if self.lines[row] != "#":
                self.lines[first] = self._cut(self.lines[first]) + self.lines[row]
                self.lines[row] = "#"

    def _cut(self, line: str) -> str:
        found = self._continues.search(line)
        return line.rstrip(" \t")[:-1] if found else line

    def _joined(self, first: int, last: int) -> str:
        return "".join(self._cut(line) for line in self._given[first : last + 1] if not _is_void(line))

    def _mask_heredocs(self, text: str, row: int) -> tuple[int, tuple[HereDoc, ...]]:
        """Mask the bodies of the here-documents that an instruction opens; its last row, and the bodies."""
        found = []
        for word in _SHELL_WORD.findall(text):
            opened = _HEREDOC.match(word)
            if opened is None:
                continue
            tabs, name = opened[1], unquoted(opened[2])
            first = row + 1
            row = next((at for at in range(first, len(self._given)) if _ends(self._given[at], name, tabs)), -1)
            row = len(self._given) - 1 if row < 0 else row
            self.lines[first : row + 1] = ["#"] * (row + 1 - first)
            found.append(HereDoc(name, "\n".join(self._given[first:row]), first + 1))
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
