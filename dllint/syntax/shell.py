"""Shell text -> simple commands in the order of the text, each with the parts of its words and their places.

This is no shell: control structures are flattened (a command knows whether it runs only sometimes), and nothing is
expanded here. A comment ends a command even inside of a continued one, as it does in a shell.
"""

from __future__ import annotations

import re

from dllint.patterns import pattern
from dllint.records import dataclass, field
from dllint.syntax.mapped import Mapped
from dllint.syntax.shell_forks import Fork, List, Not, Ran, Way, condition_of, double_test, fails
from dllint.syntax.shell_tree import Assignment, HereDocument, Part, PartKind, RawWord, Simple, assigned
from dllint.syntax.shell_words import ARITHMETIC_END, PLACEHOLDER, WordReader

_BLANK = pattern(
    r"""(?: [ \t\r\f\v] | \\\r?\n
      | (?: `[ \t]*(?:[#:][^`\n]*)?` | \$\(:[^()`\n]*\) | \$\{IFS\#[^}\n]*\} )(?=[\s\\]|\Z)
    )+""",
    re.VERBOSE,
)
"""What lies between words; so does a comment within a continued command, by way of a command that gives nothing."""
_REDIRECTION = pattern(r"<<<|<<-?|&>>?|>>|>&|<&|<>|>\||[<>]")
_LOOPS = frozenset({"while", "until"})
_REPEATING = _LOOPS | {"for", "select"}
_OPENERS = _LOOPS | {"if", "{"}
_INNER = frozenset({"then", "else", "elif", "do", "!", "time"})
_MOST_COMMANDS = 20_000
"""Commands of one script; what has more is data."""
_MOST_OPEN = 200
"""Control structures within one another that are followed."""
_MOST_WAYS = 20
"""So many of the ways that lead to a command are kept."""
_CLOSED = {"fi": ("if",), "done": ("while", "until", "for", "select"), "esac": ("case",), "}": ("{",), ")": ("(",)}
"""What closes a structure, and what opened it."""
_NOT_READ = pattern(r"[()<>]|=~")
"""What stands in tests that are not taken apart."""
_PROCESS = pattern(r"[<>]\(")
_JOINT = pattern(r"&&|\|\|")
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
class _Open:
    """A control structure that is being read."""

    word: str = ""
    """What opened it; empty for the script itself."""
    ways: tuple[Way, ...] = ()
    """What decides whether it is come to."""
    is_plain: bool = True
    """Whether nothing but ways decides whether it is, within its function."""
    is_conditional: bool = False
    depth: int = 0
    """In how many subshells it is."""
    function: str = ""
    """The innermost function whose body, or part of whose body, it is."""
    body: int = 0
    """Tells that body from another one of the same name."""
    around: List = field(default_factory=List)
    """The list that it stands in."""
    fork: Fork | None = None
    number: int = -1
    """The way of the fork that is being read; -1 for its condition."""
    is_looped: bool = False
    """Whether it stands in a loop."""
    is_matched: bool = False
    """Whether a pattern of a `case` is read."""

    def inner(self) -> tuple[Way, ...]:
        """What decides whether something in it is come to."""
        own = () if self.fork is None or self.number < 0 else (Way(self.fork, self.number),)
        return (*self.ways, *own)[-_MOST_WAYS:]


class _Reader(WordReader):
    """Reads one list of commands, up to its end or to the parenthesis that closes it."""

    def __init__(self, source: Mapped, index: int, nesting: int, found: list[Simple], open_quotes: list[int]) -> None:
        super().__init__(source, index, nesting, found, open_quotes)
        self._opens = [_Open(depth=nesting)]
        self._list = List()
        self._named = ""
        """A function whose body is about to begin."""
        self._is_piped = False
        """Whether what comes next reads the output of what was before it."""
        self._awaited: list[tuple[Simple, str, bool, bool]] = []
        self._current = self._fresh()

    def _fresh(self) -> Simple:
        """A command that stands here, of which nothing is read yet."""
        top, around = self._opens[-1], self._list
        ways = (*top.inner(), *around.ways)[-_MOST_WAYS:]
        is_tested = top.fork is not None and top.number < 0
        is_plain = top.is_plain and around.is_plain and not is_tested
        conditional = top.is_conditional or bool(around.joint)
        return Simple(conditional, top.depth, ways, is_plain, top.function, top.body, self._is_piped)

    # Lists

    def read_list(self) -> None:
        """Read up to the end of the text, or to a closing parenthesis that nothing here opened."""
        text, size = self.text, len(self.text)
        while self.index < size:
            if len(self.found) > _MOST_COMMANDS:
                self.index = size
                break
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
                if not (self._list.joint or self._is_piped):
                    self._end_list()
                self.index += 1
                self._read_documents()
            elif character == ")" and not self._is_closed_by(")") and not self._opens[-1].is_matched:
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
        self._current.is_apart = self._current.is_apart or (character in "|&" and not double)
        self._end()
        self.index += 2 if double else 1
        top = self._opens[-1]
        case = top if top.word == "case" else None
        if character == ";":
            self._end_way(case, double)
        elif double:
            self._list.join(character * 2, is_looped=top.is_looped or top.word in _REPEATING)
        elif case is None or not case.is_matched:
            self._end_list()
            self._is_piped = character == "|"
        self._current = self._fresh()

    def _end_list(self) -> None:
        """A list ends; how it ended is what `then` asks."""
        self._list = List(self._list.condition)

    def _end_way(self, case: _Open | None, double: bool) -> None:
        """A semicolon ends a list, and a double one a way of a `case`."""
        self._end_list()
        goes_on = self.text.startswith("&", self.index)
        if case is None or case.fork is None or not (double or goes_on):
            return
        if goes_on:
            self.index += 1
            case.fork.is_mixed = True
        self._begin_pattern(case, case.fork)

    def _begin_pattern(self, case: _Open, fork: Fork) -> None:
        case.is_matched = True
        if not fork.patterns or fork.patterns[-1]:
            fork.patterns.append([])
        case.number = len(fork.patterns) - 1

    def _open_structure(self, word: str, fork: Fork | None = None) -> None:
        """A control structure begins, or the body of the function that was just named."""
        here, top = self._current, self._opens[-1]
        if len(self._opens) > _MOST_OPEN:
            return
        is_body = bool(self._named) and word in ("{", "(")
        opened = _Open(
            word,
            here.ways,
            is_plain=is_body or (here.is_chosen and word in ("{", "(", "if", "case")),
            is_conditional=here.conditional or is_body or word != "(",
            depth=top.depth + (word == "("),
            function=self._named if is_body else top.function,
            body=len(self.found) if is_body else top.body,
            around=self._list,
            fork=fork,
        )
        opened.is_looped = not is_body and (top.is_looped or top.word in _REPEATING)
        if fork is not None:
            fork.is_looped = opened.is_looped
        self._opens.append(opened)
        self._named, self._list = "", List()

    def _is_closed_by(self, word: str) -> bool:
        """Whether a word closes a structure that is open."""
        return any(each.word in _CLOSED[word] for each in reversed(self._opens))

    def _close_structure(self, word: str) -> None:
        """The innermost structure ends that a word closes, and with it those that nothing has closed."""
        if not self._is_closed_by(word):
            return
        closed = self._opens.pop()
        while closed.word not in _CLOSED[word]:
            closed = self._opens.pop()
        if closed.fork is not None and closed.fork.patterns and not closed.fork.patterns[-1]:
            closed.fork.patterns.pop()
        self._list = closed.around
        self._list.take(Ran())

    def _open(self, double: bool) -> None:
        if double and self._current.is_empty:
            found = ARITHMETIC_END.search(self.text, self.index)
            self.index = found.end() if found else len(self.text)
            self._list.take(Ran("(("))
            return
        if self._opens[-1].is_matched:
            self.index += 1
            return
        declared = _NO_PARAMETERS.match(self.text, self.index)
        self.index = declared.end() if declared else self.index + 1
        if declared or not self._current.is_empty:
            # `name() {`: the body is a command of its own that runs when it is called.
            words = self._current.words
            self._named = words[-1].text if words and declared else self._named
        else:
            self._open_structure("(")
        self._current = self._fresh()

    def _close(self) -> None:
        self.index += 1
        self._end()
        if self._opens[-1].is_matched:
            self._opens[-1].is_matched = False
        else:
            self._close_structure(")")
        self._current = self._fresh()

    def _end(self) -> None:
        """A command ends, or a pattern of a `case`."""
        current, top = self._current, self._opens[-1]
        if top.is_matched and top.fork is not None:
            if top.fork.patterns:
                top.fork.patterns[-1] += current.words
        elif not current.is_empty:
            self.found.append(current)
            self._named = ""
            if fails(current) and current.ways:
                current.ways[-1].fork.failing.add(current.ways[-1].number)
            self._list.take(condition_of(current))
            self._is_piped = False
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
        if self._opens[-1].is_matched and word != "esac":
            return False
        if word in _CLOSED:
            self._close_structure(word)
        elif word in _OPENERS:
            self._open_structure(word, Fork(presumes=word in _LOOPS) if word != "{" else None)
        elif word in ("for", "select"):
            self._read_loop(word)
        elif word == "case":
            self._read_case()
        elif word == "[[":
            self._read_test()
        elif word == "function":
            self._skip_blank()
            self._named = self.word().text
        elif word in _INNER:
            self._begin_way(word)
        else:
            return False
        fresh, current = self._fresh(), self._current
        current.conditional, current.ways, current.is_chosen = fresh.conditional, fresh.ways, fresh.is_chosen
        current.depth, current.function, current.body = fresh.depth, fresh.function, fresh.body
        return True

    def _begin_way(self, word: str) -> None:
        """A way of the innermost `if` or loop begins, or its condition, or what `!` or `time` stands before."""
        top = self._opens[-1]
        if word == "!":
            self._list.is_negated = not self._list.is_negated
        elif top.fork is not None and top.word in ("for", "select") and word == "do":
            top.number, self._list = 0, List()
        elif word != "time" and top.fork is not None and top.word in ("if", *_LOOPS):
            if word in ("then", "do"):
                condition = Not(self._list.condition) if top.word == "until" else self._list.condition
                top.fork.conditions.append(condition)
            # The condition of an `elif` is come to where those before it fail; what `else` begins has none.
            top.number = -1 if word == "elif" else len(top.fork.conditions) - (word != "else")
            self._list = List()

    def _substitution(self, parts: list[Part], quoted: bool, inner: int, closing: str) -> None:
        start = len(self.found)
        super()._substitution(parts, quoted, inner, closing)
        for simple in self.found[start:]:
            simple.ways, simple.function = self._current.ways + simple.ways, self._current.function

    def _read_test(self) -> None:
        """Read `[[ ... ]]`."""
        end = self.text.find("]]", self.index)
        stop = len(self.text) if end < 0 else end
        text = self.source.cut(self.index, stop)
        self._list.take(Ran("[[") if end < 0 or _NOT_READ.search(text.text) else double_test(self._words_of(text)))
        self.index = min(stop + 2, len(self.text))

    def _words_of(self, text: Mapped) -> list[RawWord]:
        """The words of a text, with what joins commands as words of their own."""
        nested = type(self)(text, 0, self.nesting + 1, [], self._open_quotes)
        words: list[RawWord] = []
        while nested.index < len(text.text):
            joint = _JOINT.match(text.text, nested.index)
            word = nested.word() if joint is None else RawWord([Part(PartKind.TEXT, text.cut(*joint.span()), False)])
            nested.index += 0 if joint is None and word.parts else 1 if joint is None else len(joint[0])
            words += [word] * bool(word.parts)
        return words

    def _read_loop(self, word: str) -> None:
        fork = Fork(items=[])
        self._open_structure(word, fork)
        self._skip_blank()
        name = self.word().literal
        self._skip_blank()
        if name and self.text.startswith("in", self.index):
            self.index += 2
            fork.items = self._current.words
        else:
            fork.items = None if not name else [_all_that_is_passed()]
        self._current.looped = name or ""

    def _read_case(self) -> None:
        self._skip_blank()
        subject = self.word()
        fork = Fork(subject=subject)
        self._open_structure("case", fork)
        found = re.compile(r"\s*in\b").match(self.text, self.index)
        if found:
            self.index = found.end()
            self._begin_pattern(self._opens[-1], fork)

    def _skip_blank(self) -> None:
        blank = _BLANK.match(self.text, self.index)
        if blank:
            self.index = blank.end()

    # Redirections

    def _redirection(self) -> bool:
        """Read a redirection and its file, if one stands here."""
        if PLACEHOLDER.match(self.text, self.index):
            return False
        process = self._process()
        if process is not None:
            self._current.words.append(process)
            return True
        found = _REDIRECTION.match(self.text, self.index)
        if found is None:
            return False
        self.index = found.end()
        self._skip_blank()
        word = self._process() or self.word()
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

    def _process(self) -> RawWord | None:
        """Read `<(command)` or `>(command)`, if that is what stands here."""
        if not _PROCESS.match(self.text, self.index):
            return None
        parts: list[Part] = []
        self._substitution(parts, True, self.index + 2, ")")
        return RawWord(parts)

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


def _all_that_is_passed() -> RawWord:
    """`"$@"`: what a `for` goes through that says nothing else."""
    return RawWord([Part(PartKind.VARIABLE, Mapped("$@"), True, "@")])
