"""Shell text -> simple commands in the order of the text, each with the parts of its words and their places.

This is no shell: control structures are flattened (a command knows whether it runs only sometimes), and nothing is
expanded here. A comment ends a command even inside of a continued one, as it does in a shell.
"""

from __future__ import annotations

import re

from dllint.patterns import pattern
from dllint.records import dataclass, field
from dllint.syntax.mapped import Mapped
from dllint.syntax.shell_tree import Arm, Assignment, HereDocument, RawWord, Simple, assigned
from dllint.syntax.shell_words import ARITHMETIC_END, PLACEHOLDER, WordReader

_BLANK = pattern(
    r"""(?: [ \t\r\f\v] | \\\r?\n
      | (?: `[ \t]*(?:[#:][^`\n]*)?` | \$\(:[^()`\n]*\) | \$\{IFS\#[^}\n]*\} )(?=[\s\\]|\Z)
    )+""",
    re.VERBOSE,
)
"""What lies between words; so does a comment within a continued command, by way of a command that gives nothing."""
_REDIRECTION = pattern(r"<<<|<<-?|&>>?|>>|>&|<&|<>|>\||[<>]")
_VARIABLE = pattern(r"\$\{?([A-Za-z_]\w*)\}?")
_OPENERS = frozenset({"if", "while", "until"})
_INNER = frozenset({"then", "else", "elif", "do", "!", "time"})
_MOST_ARMS = 8
"""So many arms around a command are kept."""
_EQUALS = pattern(r"""\s*"?(\$[^\s"]+)"?\s+==?\s+["']?([^\s"'$`]+)["']?\s*""")
"""What is tested, in `[ "$1" = serve ]`."""
_CLOSERS = frozenset({"fi", "done", "esac", "}"})


def simple_commands(source: Mapped) -> list[Simple]:
    """The simple commands of a script, those in `$(...)` too. Never raises: what makes no sense is left out."""
    reader = _Reader(source, 0, 0, [], [])
    while reader.index < len(source.text):
        reader.read_list()
        # A closing parenthesis too much ends a list.
        reader.index += 1
    return reader.found


@dataclass(slots=True)
class _Choice:
    """An `if` that is being read."""

    arm: Arm = field(default_factory=lambda: Arm(""))
    """The branch that was begun last."""
    is_first: bool = True
    is_tested: bool = True
    """Whether its condition is read."""
    start: int = 0
    """How many commands were found before its condition."""
    text: str = ""
    """What stands in `[[ ]]`."""


class _Reader(WordReader):
    """Reads one list of commands, up to its end or to the parenthesis that closes it."""

    def __init__(self, source: Mapped, index: int, nesting: int, found: list[Simple], open_quotes: list[int]) -> None:
        super().__init__(source, index, nesting, found, open_quotes)
        self._branches = 0
        self._cases: list[bool] = []
        """For each `case` around: whether a pattern is read."""
        self._arms: list[Arm] = []
        self._choices: list[_Choice] = []
        """For each `if` around: where it is."""
        self._after_and = False
        self._subshells = 0
        self._awaited: list[tuple[Simple, str, bool, bool]] = []
        self._current = self._fresh()

    def _fresh(self) -> Simple:
        conditional = bool(self._branches or self._cases or self._after_and)
        arms = (*self._arms[-_MOST_ARMS:], *(each.arm for each in self._choices[-_MOST_ARMS:] if not each.is_tested))
        is_chosen = self._branches == len(arms) and not self._after_and
        return Simple(conditional, self._subshells + self.nesting, arms, is_chosen)

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
        self.index += 1
        if any(self._cases[-1:]):
            return
        if not self._current.is_empty:
            # `name() {`: the body is a command of its own that runs when it is called.
            self._current = self._fresh()
            return
        self._subshells += 1
        self._current = self._fresh()

    def _close(self) -> None:
        self.index += 1
        if any(self._cases[-1:]):
            self._end()
            self._cases[-1] = False
        else:
            if self._subshells:
                self._end()
                self._subshells -= 1
        self._current = self._fresh()

    def _end(self) -> None:
        if any(self._cases[-1:]):
            self._arms[-1].patterns += [word.text for word in self._current.words]
        elif not self._current.is_empty:
            self.found.append(self._current)
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
        if word in _OPENERS or word == "{":
            self._branches += 1
        elif word in ("for", "select"):
            self._read_loop()
        elif word == "case":
            self._read_case()
        elif word in _CLOSERS:
            self._branches = max(self._branches - 1, 0)
            if word == "esac" and self._cases:
                self._cases.pop()
                self._arms.pop()
        elif word == "[[":
            self._read_test()
        elif word not in _INNER:
            return False
        self._choose(word)
        if word == "function":
            self._skip_blank()
            self.word()
        fresh = self._fresh()
        current = self._current
        current.conditional, current.arms, current.is_chosen = fresh.conditional, fresh.arms, fresh.is_chosen
        return True

    def _read_test(self) -> None:
        end = self.text.find("]]", self.index)
        if self._choices and not self._choices[-1].text:
            self._choices[-1].text = self.text[self.index : max(end, self.index)]
        self.index = len(self.text) if end < 0 else end + 2

    def _choose(self, word: str) -> None:
        """Take in a word of an `if`: which of its branches begins."""
        if word == "if":
            self._choices.append(_Choice())
        choice = self._choices[-1] if self._choices else None
        if choice is None:
            return
        if word in ("if", "elif"):
            choice.is_tested, choice.start, choice.text = True, len(self.found), ""
        elif word == "!":
            choice.text = word
        elif word in ("then", "else"):
            choice.is_tested = False
            choice.arm = choice.arm.next("*") if word == "else" else self._branch(choice)
        elif word == "fi":
            self._choices.pop()

    def _branch(self, choice: _Choice) -> Arm:
        """The branch behind a condition: of `[ "$1" = serve ]` the arm of `serve`."""
        tests = [test.words for test in self.found[choice.start :]]
        if len(tests) == 1 and not choice.text and tests[0] and tests[0][0].literal in ("[", "test"):
            choice.text = " ".join(word.text for word in tests[0][1:]).removesuffix("]")
        elif tests:
            return Arm("")
        found = _EQUALS.fullmatch(choice.text)
        if found is None:
            return Arm("")
        subject = self._origin(found[1])
        if choice.is_first:
            choice.is_first = False
            return Arm(subject, [found[2]])
        return choice.arm.next(found[2]) if choice.arm.subject == subject else Arm("")

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
            self._arms.append(Arm(self._origin(subject.text)))

    def _origin(self, subject: str) -> str:
        """What is compared, by way of a variable that holds it: of `mode=${1:-serve}` for `$mode` what it is given."""
        named = _VARIABLE.fullmatch(subject)
        if named is None:
            return subject
        held = (each for simple in reversed(self.found) for each in simple.assignments if each.name == named[1])
        last = next(held, None)
        is_plain = last is not None and not last.adds and not last.is_array and len(last.items) == 1
        return last.items[0].text if last is not None and is_plain else subject

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
