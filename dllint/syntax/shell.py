"""Shell text -> simple commands in the order of the text, each with the parts of its words and their places.

This is no shell: control structures are flattened (a command knows whether it runs only sometimes), and nothing is
expanded here. A comment ends a command even inside of a continued one, as it does in a shell.
"""

from __future__ import annotations

import re
from enum import Enum, auto

from dllint.records import dataclass, field
from dllint.syntax.mapped import Mapped

_BLANK = re.compile(r"(?:[ \t\r\f\v]|\\\r?\n)+")
_PLAIN = re.compile(r"[^\s\\'\"`$;&|<>(){]+|\{(?!\{)")
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]\n]*\])?(\+?)=")
_OPERATOR = re.compile(r":?[-+?=]|%%?|##?|//?|\^\^?|,,?|:|\[|@")
_DOUBLE = re.compile(r"[^\"\\`$]+")
_REDIRECTION = re.compile(r"<<<|<<-?|&>>?|>>|>&|<&|<>|>\||[<>]")
_PLACEHOLDER = re.compile(r"<[A-Za-z][\w ./:|-]*>")
_ARITHMETIC_END = re.compile(r"\)\)")
_TEMPLATE = re.compile(r"\$?\{\{[^\n]{0,200}?\}\}")
_OPENERS = frozenset({"if", "while", "until"})
_INNER = frozenset({"then", "else", "elif", "do", "!", "time"})
_CLOSERS = frozenset({"fi", "done", "esac", "}"})
_MOST_OPEN_QUOTES = 20
"""After so many quotes that nothing closes, the next one ends the script: each costs a second reading of the rest."""
_DEEPEST = 6
"""Commands within commands, and variables within defaults of variables, that are followed."""


class PartKind(Enum):
    """What a part of a word is."""

    TEXT = auto()
    VARIABLE = auto()
    SUBSTITUTION = auto()
    """The output of a command, an arithmetic result, a template's expression: never known."""


@dataclass(slots=True)
class Part:
    """A stretch of a word that is of one kind."""

    kind: PartKind
    source: Mapped
    """The characters: of a text, without its quotes; of anything else, as written."""
    quoted: bool
    name: str = ""
    """The variable's."""
    operator: str = ""
    """`:-` and its kin in `${X:-d}`; `[` for an array's items; something else is not followed."""
    default: RawWord | None = None
    """What stands behind the operator."""


@dataclass(slots=True)
class RawWord:
    """One word as it is written."""

    parts: list[Part] = field(default_factory=list)

    @property
    def literal(self) -> str | None:
        """Its text where it is one unquoted text: what can be a reserved word."""
        if len(self.parts) == 1 and self.parts[0].kind is PartKind.TEXT and not self.parts[0].quoted:
            return self.parts[0].source.text
        return None


@dataclass(slots=True)
class Assignment:
    """`NAME=value`, `NAME+=value` or `NAME=(a b)`."""

    name: str
    adds: bool
    items: list[RawWord]
    is_array: bool = False


@dataclass(slots=True)
class HereDocument:
    """The body of a here-document."""

    body: Mapped
    is_literal: bool
    """Whether its name is quoted: no variable is put in."""


@dataclass(slots=True)
class Simple:
    """One simple command."""

    conditional: bool = False
    """Whether it runs only sometimes, or several times: in a branch, a loop, a function, behind `&&`."""
    depth: int = 0
    """In how many subshells it runs."""
    words: list[RawWord] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    written_to: list[RawWord] = field(default_factory=list)
    """Files that its output goes to."""
    documents: list[HereDocument] = field(default_factory=list)
    pipes: bool = False
    """Whether its output is read by the next command."""
    looped: str = ""
    """Of `for NAME in a b`: the variable; the words are its values."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was read yet."""
        return not (self.words or self.assignments or self.written_to or self.documents or self.looped)


def simple_commands(source: Mapped) -> list[Simple]:
    """The simple commands of a script, those in `$(...)` too. Never raises: what makes no sense is left out."""
    reader = _Reader(source, 0, 0, [], [])
    while reader.index < len(source.text):
        reader.read_list()
        # A closing parenthesis too much ends a list.
        reader.index += 1
    return reader.found


def assigned(word: RawWord) -> Assignment | None:
    """What `NAME=value`, read as a word, assigns."""
    first = word.parts[0] if word.parts else None
    if first is None or first.kind is not PartKind.TEXT or first.quoted:
        return None
    found = _ASSIGNED.match(first.source.text)
    if found is None:
        return None
    rest = Part(PartKind.TEXT, first.source.cut(found.end()), quoted=False)
    parts = ([rest] if rest.source.text else []) + word.parts[1:]
    return Assignment(found[1], bool(found[2]), [RawWord(parts)])


class _Reader:
    """Reads one list of commands, up to its end or to the parenthesis that closes it."""

    def __init__(self, source: Mapped, index: int, nesting: int, found: list[Simple], open_quotes: list[int]) -> None:
        self._in_array = False
        self._open_quotes = open_quotes
        """Where quotes began that nothing closes, in the whole script."""
        self.source = source
        self.text = source.text
        self.index = index
        self.nesting = nesting
        self.found = found
        self._branches = 0
        self._cases: list[bool] = []
        """For each `case` around: whether a pattern is read."""
        self._after_and = False
        self._subshells = 0
        self._defaults = 0
        """In how many defaults of variables it reads."""
        self._awaited: list[tuple[Simple, str, bool, bool]] = []
        self._current = self._fresh()

    def _fresh(self) -> Simple:
        conditional = bool(self._branches or self._cases or self._after_and)
        return Simple(conditional, self._subshells + self.nesting)

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
        self._current = self._fresh()

    def _open(self, double: bool) -> None:
        if double and self._current.is_empty:
            found = _ARITHMETIC_END.search(self.text, self.index)
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
            self._cases[-1] = False
        else:
            if self._subshells:
                self._end()
                self._subshells -= 1
        self._current = self._fresh()

    def _end(self) -> None:
        if not self._current.is_empty and not any(self._cases[-1:]):
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
        elif word == "[[":
            end = self.text.find("]]", self.index)
            self.index = len(self.text) if end < 0 else end + 2
        elif word not in _INNER:
            return False
        if word == "function":
            self._skip_blank()
            self.word()
        self._current.conditional = bool(self._branches or self._cases or self._after_and)
        return True

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
        self.word()
        found = re.compile(r"\s*in\b").match(self.text, self.index)
        if found:
            self.index = found.end()
            self._cases.append(True)

    def _skip_blank(self) -> None:
        blank = _BLANK.match(self.text, self.index)
        if blank:
            self.index = blank.end()

    # Redirections

    def _redirection(self) -> bool:
        """Read a redirection and its file, if one stands here."""
        if _PLACEHOLDER.match(self.text, self.index):
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

    # Parts of a word

    def word(self) -> RawWord:
        """Read one word; it has no parts where none stands here."""
        parts: list[Part] = []
        text, size = self.text, len(self.text)
        while self.index < size:
            plain = _PLAIN.match(text, self.index)
            if plain:
                self._add_text(parts, self.index, plain.end())
                self.index = plain.end()
                if self._array_follows(parts):
                    break
            elif text[self.index] == "\\":
                self._escaped(parts)
            elif text[self.index] == "'":
                self._single(parts)
            elif text[self.index] == '"':
                self._double(parts)
            elif text[self.index] in "$`{":
                self._expansion(parts, quoted=False)
            elif placeholder := _PLACEHOLDER.match(text, self.index):
                parts.append(Part(PartKind.SUBSTITUTION, self.source.cut(self.index, placeholder.end()), quoted=True))
                self.index = placeholder.end()
            else:
                break
        return RawWord(parts)

    def _add_text(self, parts: list[Part], start: int, end: int, *, quoted: bool = False) -> None:
        parts.append(Part(PartKind.TEXT, self.source.cut(start, end), quoted))

    def _array_follows(self, parts: list[Part]) -> bool:
        """Read `NAME=(a b)`, if that is what stands here: no array holds another one."""
        if self._in_array or len(parts) != 1 or not self.text.startswith("(", self.index):
            return False
        found = _ASSIGNED.fullmatch(parts[0].source.text)
        if found is None:
            return False
        self.index += 1
        self._in_array = True
        self._current.assignments.append(Assignment(found[1], bool(found[2]), self._items(), is_array=True))
        self._in_array = False
        parts.clear()
        self.index -= 1
        return True

    def _items(self) -> list[RawWord]:
        items = []
        while self.index < len(self.text) and self.text[self.index] != ")":
            blank = re.compile(r"(?:\s|\\\r?\n|(?<=\s)#[^\n]*)+").match(self.text, self.index)
            if blank:
                self.index = blank.end()
                continue
            word = self.word()
            if not word.parts:
                self.index += 1
                continue
            items.append(word)
        self.index += 1
        return items

    def _escaped(self, parts: list[Part]) -> None:
        following = self.text[self.index + 1 : self.index + 3]
        if following.startswith(("\n", "\r\n")):
            self.index += 2 if following[0] == "\n" else 3
            return
        self._add_text(parts, self.index + 1, self.index + 2, quoted=True)
        self.index += 2

    def _single(self, parts: list[Part]) -> None:
        end = self.text.find("'", self.index + 1)
        if end < 0:
            # An apostrophe that opens nothing.
            self._add_text(parts, self.index, self.index + 1)
            self.index += 1
            return
        self._add_text(parts, self.index + 1, end, quoted=True)
        self.index = end + 1

    def _double(self, parts: list[Part]) -> None:
        start, before, commands = self.index, len(parts), len(self.found)
        self._add_text(parts, start + 1, start + 1, quoted=True)
        self.index += 1
        while self.index < len(self.text):
            character = self.text[self.index]
            plain = _DOUBLE.match(self.text, self.index)
            if plain:
                self._add_text(parts, self.index, plain.end(), quoted=True)
                self.index = plain.end()
            elif character == '"':
                self.index += 1
                return
            elif character == "\\":
                self._escaped_in_double(parts)
            else:
                self._expansion(parts, quoted=True)
        # A quote that nothing closes: it is a character like others.
        self._open_quotes.append(start)
        if len(self._open_quotes) > _MOST_OPEN_QUOTES:
            return
        del parts[before:], self.found[commands:]
        self._add_text(parts, start, start + 1)
        self.index = start + 1

    def _escaped_in_double(self, parts: list[Part]) -> None:
        following = self.text[self.index + 1 : self.index + 2]
        if following == "\n":
            self.index += 2
            return
        kept = self.index + (following in ("$", "`", '"', "\\") and following != "")
        self._add_text(parts, kept, self.index + 2, quoted=True)
        self.index += 2

    def _expansion(self, parts: list[Part], *, quoted: bool) -> None:
        """Read what starts with a dollar, a backtick or two braces."""
        text, start = self.text, self.index
        template = _TEMPLATE.match(text, start)
        if template:
            self._unknown(parts, template.end(), quoted)
        elif text[start] == "`":
            self._substitution(parts, quoted, start + 1, "`")
        elif text.startswith("$((", start):
            found = _ARITHMETIC_END.search(text, start)
            self._unknown(parts, found.end() if found else len(text), quoted)
        elif text.startswith("$(", start):
            self._substitution(parts, quoted, start + 2, ")")
        elif text.startswith("${", start):
            self._braced(parts, quoted)
        elif text.startswith("$'", start) and not quoted:
            self.index += 1
            self._single(parts)
        elif text[start] == "$" and (name := _NAME.match(text, start + 1)):
            self.index = name.end()
            parts.append(Part(PartKind.VARIABLE, self.source.cut(start, self.index), quoted, name[0]))
        else:
            self._add_text(parts, start, start + 1, quoted=quoted)
            self.index += 1

    def _unknown(self, parts: list[Part], end: int, quoted: bool) -> None:
        parts.append(Part(PartKind.SUBSTITUTION, self.source.cut(self.index, end), quoted))
        self.index = end

    def _substitution(self, parts: list[Part], quoted: bool, inner: int, closing: str) -> None:
        if self.nesting >= _DEEPEST:
            self._unknown(parts, len(self.text), quoted)
            return
        if closing == "`":
            end = re.compile(r"(?<!\\)`").search(self.text, inner)
            stop = end.start() if end else len(self.text)
            nested = _Reader(self.source.cut(inner, stop), 0, self.nesting + 1, self.found, self._open_quotes)
            nested.read_list()
        else:
            nested = _Reader(self.source, inner, self.nesting + 1, self.found, self._open_quotes)
            nested.read_list()
            stop = nested.index
        self._unknown(parts, min(stop + 1, len(self.text)), quoted)

    def _braced(self, parts: list[Part], quoted: bool) -> None:
        """Read `${NAME...}`."""
        start = self.index
        self.index += 2
        name = _NAME.match(self.text, self.index)
        if name is None or self._defaults >= _DEEPEST:
            end = self.text.find("}", self.index)
            self.index = start
            self._unknown(parts, len(self.text) if end < 0 else end + 1, quoted)
            return
        self.index = name.end()
        operator = self._read_operator()
        self._defaults += 1
        default = self._read_default()
        self._defaults -= 1
        self.index = min(self.index + 1, len(self.text))
        source = self.source.cut(start, self.index)
        parts.append(Part(PartKind.VARIABLE, source, quoted, name[0], operator, default))

    def _read_operator(self) -> str:
        found = _OPERATOR.match(self.text, self.index)
        operator = found[0] if found else ""
        self.index += len(operator)
        if operator == "[" and (items := re.compile(r"[@*]\]").match(self.text, self.index)):
            self.index = items.end()
        elif operator == "[":
            operator = "[]"
        return operator

    def _read_default(self) -> RawWord:
        """Read up to the brace that closes."""
        parts: list[Part] = []
        while self.index < len(self.text) and self.text[self.index] != "}":
            found = re.compile(r"[^\\'\"`${}]+").match(self.text, self.index)
            if found:
                self._add_text(parts, self.index, found.end())
                self.index = found.end()
            elif self.text[self.index] == "\\":
                self._escaped(parts)
            elif self.text[self.index] == "'":
                self._single(parts)
            elif self.text[self.index] == '"':
                self._double(parts)
            elif self.text[self.index] in "$`":
                self._expansion(parts, quoted=False)
            else:
                self._add_text(parts, self.index, self.index + 1)
                self.index += 1
        return RawWord(parts)
