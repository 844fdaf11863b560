"""A script gone through from top to bottom, as if it ran: its variables and folders, and the commands they shape."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator, Sequence

from dllint.deploy.command_words import HANDED_A_TEXT
from dllint.deploy.commands import Command, Script, Word
from dllint.deploy.shell_state import DECLARING, READING
from dllint.deploy.texts import DeployFile
from dllint.deploy.variables import Field, Variables
from dllint.deploy.wrappers import inner_scripts, reads_script, unwrapped, written_by
from dllint.finding import Location
from dllint.patterns import pattern
from dllint.syntax.mapped import Mapped
from dllint.syntax.shell import simple_commands
from dllint.syntax.shell_forks import Way
from dllint.syntax.shell_tree import HereDocument, RawWord, Simple, assigned

_COMPOSE_FILE = "COMPOSE_FILE"
_OWN_FOLDER = pattern(r"dirname|BASH_SOURCE|\$0\b|\$\{0|PSScriptRoot|%~dp0")
_UPWARDS = pattern(r"(?:/\.\.)+/?$")
_VARIABLE = pattern(r"\$(\w+)|\$\{(\w+)\}")
_BUILDS = pattern(r"\bbuild\b[^|;&]*\s(?:-q|--quiet|--iidfile)\b")
"""A command that says the id of an image, and nothing else."""
_DEEPEST = 4
"""Scripts within the words of scripts that are followed."""


def run(script: Script, file: DeployFile) -> list[Command]:
    """The commands of a script, in order."""
    return list(_Run(file, script).commands(script.source, 0))


class _Run:
    def __init__(self, file: DeployFile, script: Script) -> None:
        self.file = file
        self._span = script.span
        self.variables = Variables(script.variables)
        self._folders = [script.folder]
        """The current folder, for each subshell around."""
        self._ways: tuple[Way, ...] = ()
        self._function = ""
        self._is_handed = False
        """What stands around the command whose words or here-documents are read."""

    def commands(self, source: Mapped, nesting: int) -> Iterator[Command]:
        """The commands of a script, and of the scripts in their words and here-documents."""
        before: Simple | None = None
        for simple in simple_commands(source):
            yield from self._command(simple, before, nesting)
            before = simple

    def _command(self, simple: Simple, before: Simple | None, nesting: int) -> Iterator[Command]:
        if simple.looped:
            self.variables.forget(simple.looped)
            yield self._step(simple, (), nesting)
            return
        if not simple.words:
            self._assign(simple)
            yield self._step(simple, (), nesting)
            return
        words = unwrapped(self._words(simple.words))
        if not words:
            return
        command = self._step(simple, words, nesting)
        if command.name in ("cd", "pushd"):
            self._change_folder(words, command.folder)
        elif command.name in DECLARING:
            self._assign(simple)
            yield command._replace(words=())
        elif command.name in READING:
            for word in words[1:]:
                self.variables.forget(word.text)
            yield command._replace(words=())
        else:
            yield command
            if nesting < _DEEPEST:
                around = self._ways, self._function
                self._ways, self._function = command.ways, command.function
                yield from self._inner(command, simple, before, nesting + 1)
                self._ways, self._function = around

    def _step(self, simple: Simple, words: Sequence[Word], nesting: int) -> Command:
        source = next((word.text for word in self._words(simple.read_from[-1:]) if word.known), "")
        return Command(
            tuple(words),
            self._at(words, simple.words) if words else self.file.line_at(0),
            self.file,
            self._folder(simple.depth),
            self._compose_file(simple),
            self._ways + simple.ways,
            simple.function or self._function,
            None if nesting else simple,
            self._is_handed,
            source,
        )

    def _compose_file(self, simple: Simple) -> str | None:
        """What docker compose reads its files' names from, as set before the command, or earlier in the script."""
        own = next((each for each in simple.assignments if each.name == _COMPOSE_FILE), None)
        if own is None and not self.variables.has(_COMPOSE_FILE):
            return ""
        fields = self.variables.value(_COMPOSE_FILE) if own is None else self.variables.assigned(own)
        is_known = fields is not None and all(field.known for field in fields)
        return "".join(field.source.text for field in fields or ()) if is_known else None

    def _words(self, raw: Iterable[RawWord]) -> list[Word]:
        return [self._word(field) for word in raw for field in self.variables.fields(word)]

    def _word(self, field: Field) -> Word:
        at = self.file.span_of(field.source, 0)
        named = None if field.known else _VARIABLE.fullmatch(field.source.text)
        output = self.variables.output(named[1] or named[2]) if named else None
        many = field.many and not (output is not None and _BUILDS.search(output.text))
        return Word(field.source.text, at, field.known, many, field.source, self.file, output)

    def _at(self, words: Sequence[Word], raw: list[RawWord]) -> Location:
        """The place of a command: where it is run, also where its words come out of a variable."""
        inside = [word for word in words if self._stands_here(word)]
        if inside and inside[0] is not words[0]:
            return self.file.line_at(inside[0].at.row)
        first, last = raw[0].parts[0].source.origin(0), raw[-1].parts[-1].source.origin(0)
        source = words[0].source
        if source is not None and first <= source.origin(0) <= last:
            return _in_row(words)
        return self.file.span_of(raw[0].parts[0].source)

    def _stands_here(self, word: Word) -> bool:
        """Whether a word stands in the script itself, of one into which make has put variables."""
        if self._span is None or word.source is None or not word.text:
            return False
        return self._span[0] <= word.source.origin(0) < self._span[1]

    def _assign(self, simple: Simple) -> None:
        declared = (assigned(word) for word in simple.words[1:])
        for assignment in (*simple.assignments, *(found for found in declared if found is not None)):
            self.variables.assign(assignment, conditional=simple.conditional)

    # Folders

    def _folder(self, depth: int) -> str:
        del self._folders[depth + 1 :]
        while len(self._folders) <= depth:
            self._folders.append(self._folders[-1])
        return self._folders[depth]

    def _change_folder(self, words: list[Word], folder: str) -> None:
        target = next((word for word in words[1:] if not word.text.startswith("-")), None)
        if target is None:
            return
        if target.known:
            self._folders[-1] = os.path.normpath(os.path.join(folder, target.text))
        elif _OWN_FOLDER.search(target.text):
            upwards = _UPWARDS.search(target.text)
            self._folders[-1] = os.path.normpath(self.file.folder + (upwards[0] if upwards else ""))

    # Scripts in words and here-documents

    def _inner(self, command: Command, simple: Simple, before: Simple | None, nesting: int) -> Iterator[Command]:
        is_outer_handed = self._is_handed
        self._is_handed = is_outer_handed or command.name in HANDED_A_TEXT
        for source in inner_scripts(command.name, command.words):
            yield from self.commands(source, nesting)
        self._is_handed = is_outer_handed
        documents = list(simple.documents)
        if not self._runs_input(command, simple):
            documents = []
        if before is not None and before.pipes and reads_script(command.name, command.words):
            documents += before.documents
        for document in documents:
            yield from self._document(document, nesting)

    def _runs_input(self, command: Command, simple: Simple) -> bool:
        """Whether its here-documents are scripts: it runs them, or writes them to one."""
        if not simple.documents:
            return False
        files = [*self._words(simple.written_to), *written_by(command.name, command.words)]
        written = any(posixpath.splitext(word.text)[1] in (".sh", ".bash", ".sbatch") for word in files)
        return written or reads_script(command.name, command.words)

    def _document(self, document: HereDocument, nesting: int) -> Iterator[Command]:
        if document.is_literal:
            nested = _Run(self.file, Script(document.body, self._folders[-1]))
            nested._ways, nested._function = self._ways, self._function
            yield from nested.commands(document.body, nesting)
        else:
            yield from self.commands(document.body, nesting)


def _in_row(words: Sequence[Word]) -> Location:
    """From the first word to the last one in its row."""
    start = last = words[0].at
    for word in words[1:]:
        if word.at.row == word.at.end_row == start.row and word.at.column > last.column:
            last = word.at
    return Location(start.path, start.row, start.column, last.end_row, last.end_column)
