"""Shell text -> simple commands in the order of the text, each with the parts of its words and their places.

This is no shell: control structures are flattened (a command knows whether it runs only sometimes), and nothing is
expanded here. A comment ends a command even inside of a continued one, as it does in a shell.
"""

from __future__ import annotations

import re

from dllint.patterns import pattern
from dllint.records import dataclass
from dllint.syntax.mapped import Mapped
from dllint.syntax.shell_branches import Choice, origin
from dllint.syntax.shell_tree import Arm, Assignment, HereDocument, Part, RawWord, Simple, assigned
from dllint.syntax.shell_words import ARITHMETIC_END, PLACEHOLDER, WordReader

_BLANK = pattern(
    r"""(?: [ \t\r\f\v] | \\\r?\n
      | (?: `[ \t]*(?:[#:][^`\n]*)?` | \$\(:[^()`\n]*\) | \$\{IFS\#[^}\n]*\} )(?=[\s\\]|\Z)
    )+""",
    re.VERBOSE,
)
"""What lies between words; so does a comment within a continued command, by way of a command that gives nothing."""
_REDIRECTION = pattern(r"<<<|<<-?|&>>?|>>|>&|<&|<>|>\||[<>]")
_OPENERS = frozenset({"if", "while", "until", "{"})
_INNER = frozenset({"then", "else", "elif", "do", "!", "time"})
_MOST_ARMS = 8
"""So many arms around a command are kept."""
_CLOSERS = frozenset({"fi", "done", "esac", "}"})
_NO_PARAMETERS = pattern(r"\([ \t]*\)")


def simple_commands(source: Mapped) -> list[Simple]:
    """The simple commands of a script, those in `$(...)` too. Never raises: what makes no sense is left out."""
    reader = _Reader(source, 0, 0, [], [])
    while reader.index < len(source.text):
        reader.read_list()
        # A closing parenthesis too much ends a list.
        reader.index += 1
    return reader.found


@dataclass(slots=True)
class _Function:
    """A function whose body is being read."""

    name: str
    branches: int
    """How many control structures are open around its body."""
    subshells: int | None
    """How many subshells are around it, if its body is one: `f() ( ... )`."""


class _Reader(WordReader):
    """Reads one list of commands, up to its end or to the parenthesis that closes it."""

    def __init__(self, source: Mapped, index: int, nesting: int, found: list[Simple], open_quotes: list[int]) -> None:
        super().__init__(source, index, nesting, found, open_quotes)
        self._branches = 0
        self._cases: list[bool] = []
        """For each `case` around: whether a pattern is read."""
        self._arms: list[Arm] = []
        self._choices: list[Choice] = []
        """For each `if` around: where it is."""
        self._after_and = False
        self._subshells = 0
        self._functions: list[_Function] = []
        self._named = ""
        """A function whose body is about to begin."""
        self._awaited: list[tuple[Simple, str, bool, bool]] = []
        self._current = self._fresh()

    def _fresh(self) -> Simple:
        function = self._functions[-1] if self._functions else None
        conditional = bool(self._branches or self._cases or self._after_and or function)
        arms = (*self._arms[-_MOST_ARMS:], *(each.arm for each in self._choices[-_MOST_ARMS:] if not each.is_tested))
        around = 0 if function is None else function.branches + (function.subshells is None)
        is_chosen = self._branches - around == len(arms) and not self._after_and
        name = "" if function is None else function.name
        return Simple(conditional, self._subshells + self.nesting, arms, is_chosen, name)

    # Lists

    def read_list(self) -> None:
        """Read up to the end of the text, or to a closing parenthesis that nothing here opened."""
        text, size = self.text, len(self.text)
        while self.index < size:
            blank = _BLANK.match(text, self.index)
            if blank:
                self.index = blank.end()
                continue
            character = text[self.index]
            if character == "#":
                end = text.find("\n", self.index)
                self.index = size if end < 0 else end
            elif character == "\n":
                self._end()
                self.index += 1
                self._read_documents()
            elif character == ")" and not self._subshells and not any(self._cases[-1:]):
                break
            elif character in ";&|()":
                self._operator(character)
            elif not self._redirection():
                self._take(self.word())
        self._end()

    def _operator(self, character: str) -> None:
        text = self.text
        if text.startswith("&>", self.index):
            self._redirection()
            return
        double = text.startswith(character * 2, self.index)
        if character == "(":
            self._open(double)
            return
        if character == ")":
            self._close()
            return
        self._current.pipes = character == "|" and not double
        self._end()
        self.index += 2 if double else 1
        self._after_and = double and character in "&|"
        if character == ";" and double and self._cases:
            self._cases[-1] = True
            self._arms[-1] = self._arms[-1].next()
        self._current = self._fresh()

    def _open(self, double: bool) -> None:
        if double and self._current.is_empty:
            found = ARITHMETIC_END.search(self.text, self.index)
            self.index = found.end() if found else len(self.text)
            return
        if any(self._cases[-1:]):
            self.index += 1
            return
        declared = _NO_PARAMETERS.match(self.text, self.index)
        self.index = declared.end() if declared else self.index + 1
        if declared or not self._current.is_empty:
            # `name() {`: the body is a command of its own that runs when it is called.
            words = self._current.words
            self._named = words[-1].text if words and declared else self._named
            self._current = Simple()
        else:
            self._begin_body(self._subshells)
            self._subshells += 1
        self._current = self._fresh()

    def _begin_body(self, subshells: int | None = None) -> None:
        """A brace or a parenthesis opens: the body of the function that was just named, if one was."""
        if self._named:
            self._functions.append(_Function(self._named, self._branches, subshells))
        self._named = ""

    def _end_body(self) -> None:
        """Something closes: the body of a function, if that is what it ends."""
        if not self._functions:
            return
        body = self._functions[-1]
        if self._branches <= body.branches if body.subshells is None else self._subshells <= body.subshells:
            self._functions.pop()

    def _close(self) -> None:
        self.index += 1
        if any(self._cases[-1:]):
            self._end()
            self._cases[-1] = False
        else:
            if self._subshells:
                self._end()
                self._subshells -= 1
                self._end_body()
        self._current = self._fresh()

    def _end(self) -> None:
        if any(self._cases[-1:]):
            self._arms[-1].patterns += [word.text for word in self._current.words]
        elif not self._current.is_empty:
            self.found.append(self._current)
            self._named = ""
        self._after_and = False
        self._current = self._fresh()

    # Words of a command

    def _take(self, word: RawWord) -> None:
        """Give a word to the command that is being read."""
        if not word.parts:
            self.index += 1
            return
        current = self._current
        literal = word.literal
        if literal is not None and not current.words and not current.assignments and self._reserved(literal):
            return
        if literal is not None and literal.isdecimal() and self.text[self.index : self.index + 1] in ("<", ">"):
            return
        assignment = assigned(word) if not current.words else None
        if assignment is not None:
            current.assignments.append(assignment)
        else:
            current.words.append(word)

    def take_array(self, array: Assignment) -> None:
        """Give it to the command that is being read."""
        self._current.assignments.append(array)

    def _reserved(self, word: str) -> bool:
        """Whether it is a word of the shell's own grammar, in the place of a command's name."""
        if any(self._cases[-1:]) and word != "esac":
            return False
        if word == "{":
            self._begin_body()
        if word in _OPENERS:
            self._branches += 1
        elif word in ("for", "select"):
            self._read_loop()
        elif word == "case":
            self._read_case()
        elif word in _CLOSERS:
            self._close_structure(word)
        elif word == "[[":
            self._read_test()
        elif word == "function":
            self._skip_blank()
            self._named = self.word().text
        elif word not in _INNER:
            return False
        self._choose(word)
        fresh, current = self._fresh(), self._current
        current.conditional, current.arms, current.is_chosen = fresh.conditional, fresh.arms, fresh.is_chosen
        current.function = fresh.function
        return True

    def _close_structure(self, word: str) -> None:
        self._branches = max(self._branches - 1, 0)
        if word == "esac" and self._cases:
            self._cases.pop()
            self._arms.pop()
        self._end_body()

    def _substitution(self, parts: list[Part], quoted: bool, inner: int, closing: str) -> None:
        start = len(self.found)
        super()._substitution(parts, quoted, inner, closing)
        for simple in self.found[start:]:
            simple.arms, simple.function = self._current.arms + simple.arms, self._current.function

    def _read_test(self) -> None:
        end = self.text.find("]]", self.index)
        if self._choices and not self._choices[-1].text:
            self._choices[-1].text = self.text[self.index : max(end, self.index)]
        self.index = len(self.text) if end < 0 else end + 2

    def _choose(self, word: str) -> None:
        """Take in a word of an `if`: which of its branches begins."""
        if word == "if":
            self._choices.append(Choice())
        choice = self._choices[-1] if self._choices else None
        if choice is None:
            return
        if word in ("if", "elif"):
            choice.is_tested, choice.start, choice.text = True, len(self.found), ""
        elif word == "!":
            choice.text = word
        elif word == "then":
            choice.begin(self.found, self._current)
        elif word == "else":
            choice.begin_else()
        elif word == "fi":
            self._choices.pop()

    def _read_loop(self) -> None:
        self._branches += 1
        self._skip_blank()
        name = self.word().literal
        self._skip_blank()
        if name and self.text.startswith("in", self.index):
            self.index += 2
            self._current.looped = name

    def _read_case(self) -> None:
        self._branches += 1
        self._skip_blank()
        subject = self.word()
        found = re.compile(r"\s*in\b").match(self.text, self.index)
        if found:
            self.index = found.end()
            self._cases.append(True)
            self._arms.append(Arm(origin(subject.text, self.found, self._current)))

    def _skip_blank(self) -> None:
        blank = _BLANK.match(self.text, self.index)
        if blank:
            self.index = blank.end()

    # Redirections

    def _redirection(self) -> bool:
        """Read a redirection and its file, if one stands here."""
        if PLACEHOLDER.match(self.text, self.index):
            return False
        found = _REDIRECTION.match(self.text, self.index)
        if found is None:
            return False
        self.index = found.end()
        self._skip_blank()
        word = self.word()
        if found[0] in ("<<", "<<-"):
            name = "".join(part.source.text for part in word.parts)
            quoted = any(part.quoted for part in word.parts)
            self._awaited.append((self._current, name, quoted, found[0] == "<<-"))
            self._current.documents.append(HereDocument(Mapped(""), quoted))
        elif ">" in found[0] and "&" not in found[0][1:]:
            self._current.written_to.append(word)
        elif found[0] == "<":
            self._current.read_from.append(word)
        return True

    def _read_documents(self) -> None:
        """Read the bodies of the here-documents that the last row opened."""
        for command, name, quoted, tabs in self._awaited:
            start = self.index
            strip = r"\t*" if tabs else ""
            end = re.compile(rf"^{strip}{re.escape(name)}\r?$", re.MULTILINE).search(self.text, start)
            stop = end.start() if end else len(self.text)
            self.index = min(end.end() + 1, len(self.text)) if end else len(self.text)
            empty = next((doc for doc in command.documents if not doc.body.text and doc.is_literal == quoted), None)
            if empty is not None and stop > start:
                empty.body = self.source.cut(start, stop)
        self._awaited = []
