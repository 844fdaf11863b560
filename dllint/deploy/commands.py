"""Commands that the project's own files run: the words of each, with variables put in where their values are seen."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.deploy.texts import DeployFile
from dllint.finding import Location
from dllint.patterns import pattern
from dllint.syntax.mapped import Mapped
from dllint.syntax.shell_forks import Way
from dllint.syntax.shell_tree import Simple

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_PROGRAMS = (b"docker", b"podman", b"nerdctl")
_SPELLINGS = (*_PROGRAMS, b"DOCKER", b"PODMAN", b"Docker")
_STARTS = pattern(
    rb"""
    [^\s=]{0,99}\s{1,99}(?:\S{1,199}\s{1,99}){0,6}?["']?
        (?:run|create|container|build|buildx|builder|image|compose|stack)\b  # soon behind the program
    | -compose\b
    | [}"';)\]]{0,9}(?:[ \t]{0,99}\r?$|[ \t]{1,99}\#)  # the value of a variable
    """,
    re.MULTILINE | re.VERBOSE,
)
"""What stands, in lower case, behind a program that is called to start or build containers, or may be by a variable."""


class Word(NamedTuple):
    """One argument of a command."""

    text: str
    """With quotes removed and known variables put in; what is not known stays as written, such as `$TAG`."""
    at: Location
    """Where it is written; of a word out of a variable, where that got its value."""
    known: bool = True
    """Whether `text` is all of it: no part comes out of an unknown variable or a substitution."""
    many: bool = False
    """Whether it may be any number of words: an unknown variable without quotes, or `"$@"`."""
    source: Mapped | None = None
    """Its characters with their places in `file`."""
    file: DeployFile | None = None
    output_of: Mapped | None = None
    """Of a variable that holds the output of a command, that: `$(docker build -q .)`."""

    def part(self, start: int) -> Location:
        """The place of its text from an index on: of the value in `--shm-size=8g`."""
        if self.source is None or self.file is None or not start < len(self.text):
            return self.at
        return self.file.span_of(self.source, start)

    def after(self, start: int) -> Word:
        """The word without its first characters."""
        source = self.source.cut(start) if self.source is not None else None
        return self._replace(text=self.text[start:], at=self.part(start), source=source)


class Command(NamedTuple):
    """One simple command, from its first word on (assignments and `sudo` before it are gone)."""

    words: tuple[Word, ...]
    """None, of a step that only sets variables."""
    at: Location
    """The command, in the row that it starts in."""
    file: DeployFile
    folder: str
    """Absolute path of the folder that it is run in, as far as it can be told."""
    compose_file: str | None = ""
    """What COMPOSE_FILE is for it; empty where it is not set, None where its value cannot be known."""

    ways: tuple[Way, ...] = ()
    """Those of the forks around it that lead to it."""
    function: str = ""
    """The function whose body it stands in; empty where it is run as the script comes to it."""
    simple: Simple | None = None
    """It as the script itself has it; None where the script only hands it to another shell."""
    is_handed: bool = False
    """Whether it stands in words that another command of the script gives to a shell: `bash -c "..."`."""
    input: str = ""
    """The file that its input comes from; empty where it reads none, or what nobody knows."""

    @property
    def texts(self) -> list[str]:
        """The words as texts."""
        return [word.text for word in self.words]

    @property
    def name(self) -> str:
        """The program, without its folder."""
        return posixpath.basename(self.words[0].text)


class Script(NamedTuple):
    """A stretch of a file that a shell runs."""

    source: Mapped
    folder: str
    """Absolute path of the folder that it starts in."""
    variables: dict[str, Mapped] | None = None
    """Variables that are set around it."""
    span: tuple[int, int] | None = None
    """Where it stands in the file (offsets), if what made it put in texts from elsewhere."""


def commands_of(file: DeployFile, plan: Plan) -> list[Command]:
    """The commands that a file runs: a script, the recipes of a Makefile, the shell blocks of a page, CI steps."""
    return plan.shared(_Read).commands_of(file, plan)


def steps_of(file: DeployFile, plan: Plan) -> list[Command]:
    """The same with the steps that only set variables: what a shell goes through."""
    return plan.shared(_Read).steps_of(file, plan)


class _Read:
    """Files are read once."""

    def __init__(self, plan: Plan) -> None:
        self._steps: dict[str, list[Command]] = {}
        self._commands: dict[str, list[Command]] = {}

    def steps_of(self, file: DeployFile, plan: Plan) -> list[Command]:
        from dllint.deploy.snippets import scripts

        if file.absolute not in self._steps:
            found = [step for script in scripts(file, plan) for step in steps_in(script, file)]
            self._steps[file.absolute] = found
        return self._steps[file.absolute]

    def commands_of(self, file: DeployFile, plan: Plan) -> list[Command]:
        if file.absolute not in self._commands:
            self._commands[file.absolute] = [step for step in self.steps_of(file, plan) if step.words]
        return self._commands[file.absolute]


def commands_in(script: Script, file: DeployFile) -> list[Command]:
    """The commands of one script that stands in a file, in order."""
    return [step for step in steps_in(script, file) if step.words]


def steps_in(script: Script, file: DeployFile) -> list[Command]:
    """The same with the steps that only set variables."""
    from dllint.deploy.shell_run import run

    return run(script, file)


def may_start(file: DeployFile) -> bool:
    """Whether commands of a file may start or build containers, by its bytes."""
    if not any(map(file.has, _SPELLINGS)):
        return False
    lower = file.data.lower()
    return any(_STARTS.match(lower, end) for word in _PROGRAMS for end in _ends(word, lower))


def _ends(word: bytes, data: bytes) -> Iterator[int]:
    """Where the occurrences of a word end; plain text is searched for far quicker than a choice of texts."""
    at = data.find(word)
    while at >= 0:
        yield at + len(word)
        at = data.find(word, at + 1)


def every(plan: Plan) -> list[Command]:
    """The commands of all files that may start or build containers, in the order of the files; those of code last."""
    return plan.shared(_every)


def _every(plan: Plan) -> list[Command]:
    from dllint.deploy import code_commands

    files = (file for file in plan.files.values() if may_start(file))
    return [command for file in files for command in commands_of(file, plan)] + code_commands.every(plan)
