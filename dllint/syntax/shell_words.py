"""Shell text -> words: quotes, variables with their defaults, and what is put in by commands and templates."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from dllint.patterns import pattern
from dllint.syntax.mapped import Mapped
from dllint.syntax.shell_tree import ASSIGNED, Assignment, Part, PartKind, RawWord, Simple

PLACEHOLDER = pattern(r"<[A-Za-z][\w ./:|-]*>")
"""What documents write for something to fill in: `<image>`."""
ARITHMETIC_END = pattern(r"\)\)")
_PLAIN = pattern(r"[^\s\\'\"`$;&|<>(){]+|\{(?!\{)")
_NAME = pattern(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_OPERATOR = pattern(r":?[-+?=]|%%?|##?|//?|\^\^?|,,?|:|\[|@")
_DOUBLE = pattern(r"[^\"\\`$]+")
_TEMPLATE = pattern(r"\$?\{\{[^\n]{0,200}?\}\}")
_MOST_OPEN_QUOTES = 20
"""After so many quotes that nothing closes, the next one ends the script: each costs a second reading of the rest."""
_DEEPEST = 6
"""Commands within commands, and variables within defaults of variables, that are followed."""


class WordReader(ABC):
    """Reads words from a place on. What reads commands derives from it: a word can hold some."""

    def __init__(self, source: Mapped, index: int, nesting: int, found: list[Simple], open_quotes: list[int]) -> None:
        self.source = source
        self.text = source.text
        self.index = index
        self.nesting = nesting
        """In how many commands within words it reads."""
        self.found = found
        self._in_array = False
        self._open_quotes = open_quotes
        """Where quotes began that nothing closes, in the whole script."""
        self._defaults = 0
        """In how many defaults of variables it reads."""

    @abstractmethod
    def read_list(self) -> None:
        """Read commands into `found`, up to the end of the text or the parenthesis that closes a substitution."""

    @abstractmethod
    def take_array(self, array: Assignment) -> None:
        """Give an array that was read to the command around it."""

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
            elif placeholder := PLACEHOLDER.match(text, self.index):
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
        found = ASSIGNED.fullmatch(parts[0].source.text)
        if found is None:
            return False
        self.index += 1
        self._in_array = True
        self.take_array(Assignment(found[1], bool(found[2]), self._items(), is_array=True))
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
            found = ARITHMETIC_END.search(text, start)
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
            nested = type(self)(self.source.cut(inner, stop), 0, self.nesting + 1, self.found, self._open_quotes)
            nested.read_list()
        else:
            nested = type(self)(self.source, inner, self.nesting + 1, self.found, self._open_quotes)
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
