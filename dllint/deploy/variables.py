"""Variables of a shell script, as far as its text shows their values, and words with them put in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dllint.patterns import pattern
from dllint.syntax.mapped import Mapped, joined
from dllint.syntax.shell_tree import Assignment, Part, PartKind, RawWord

_SPACE = pattern(r"\s+")
_VARIABLE = pattern(r"\$\w+|\$[@*]|\$\{[^{}]*\}|\$\(.*\)|`.*`")
_EXPRESSION = pattern(r"\$\{\{\s*env\.(\w+)\s*\}\}")
"""Of GitHub Actions."""
_FIELD = pattern(r"\S+")
_LITTLE = pattern(
    r"(?:(?:-[dit]{1,3}|--(?:rm|init|detach|interactive|tty)|--(?:gpus|runtime|name|user)[= ][^\s-][^\s$]*)(?:\s+|$))+"
)
"""Options of `docker run` that say how it is attached, named and given GPUs."""
_MOST_CHARACTERS = 20_000
"""A value that grows beyond is not followed."""
_MOST_ITEMS = 500
_FOLLOWED = frozenset({"", "[", ":-", "-", ":=", "=", ":+", "+", ":?", "?"})


class Field(NamedTuple):
    """One word after expansion."""

    source: Mapped
    known: bool
    many: bool = False
    """Whether it may be any number of words: an unquoted variable, or `"$@"`."""


_Items = tuple[Field, ...]
"""The words of an array; of a plain variable one field, with the space that it holds."""


class Variables:
    """What variables hold at a point of a script. A name that is not here is unknown."""

    def __init__(self, given: dict[str, Mapped] | None = None) -> None:
        self._values: dict[str, tuple[_Items, ...]] = {
            name: ((Field(value, known=True),),) for name, value in (given or {}).items()
        }
        """The values that each may hold."""
        self._arrays: set[str] = set()
        self._outputs: dict[str, Mapped] = {}
        """Of variables that hold the output of one command, that."""

    def assign(self, assignment: Assignment, *, conditional: bool) -> None:
        """Take in an assignment; a conditional one leaves the value before it possible."""
        name = assignment.name
        self._outputs.pop(name, None)
        output = _output(assignment)
        if output is not None and not conditional and not assignment.adds:
            self._outputs[name] = output
        if assignment.is_array:
            self._arrays.add(name)
        new = self.assigned(assignment)
        if assignment.adds:
            before = self._values.get(name, ((),))
            values = tuple(self._added(old, new, assignment.is_array) for old in before)
        else:
            values = (new,)
        if conditional:
            values = (*self._values.get(name, ()), *values)
        self._values[name] = values[-4:] if _size(values) < _MOST_CHARACTERS else ((_UNKNOWN,),)

    def has(self, name: str) -> bool:
        """Whether anything is known of a variable."""
        return name in self._values

    def assigned(self, assignment: Assignment) -> _Items:
        """The value that an assignment gives."""
        if assignment.is_array:
            return tuple(field for item in assignment.items for field in self.fields(item))[:_MOST_ITEMS]
        return tuple(self._whole(item) for item in assignment.items)

    def _added(self, old: _Items, new: _Items, as_items: bool) -> _Items:
        if as_items:
            return (*old, *new)[:_MOST_ITEMS]
        fields = (*old, *new)
        return (Field(joined(field.source for field in fields), all(field.known for field in fields)),)

    def forget(self, name: str) -> None:
        """The variable gets a value that nobody sees: `read`, a loop, an option's argument."""
        self._values[name] = ((_UNKNOWN,),)
        self._outputs.pop(name, None)

    def output(self, name: str) -> Mapped | None:
        """The command, within its `$(...)`, whose output a variable certainly holds."""
        return self._outputs.get(name)

    def value(self, name: str) -> _Items | None:
        """The one value that a variable has, nothing aside; None where it is unknown or one of several."""
        values = self._values.get(name)
        if values is None or any(field.many for value in values for field in value):
            return None
        values = tuple(value for value in values if any(field.source.text for field in value)) or ((),)
        first = values[0]
        if any(_texts(value) != _texts(first) for value in values[1:]):
            # `A=x` and, in a branch, `A+=" y"`: the longer one tells all that may be said.
            longest = max(values, key=lambda value: sum(len(field.source.text) for field in value))
            is_one = all(_starts_with(longest, value) for value in values) or all(map(_says_little, values))
            return longest if is_one else None
        return first

    # Expansion

    def fields(self, word: RawWord) -> list[Field]:
        """The words that a word becomes."""
        builder = _Builder()
        for part in word.parts:
            self._put(builder, part)
        return builder.done()

    def _whole(self, word: RawWord) -> Field:
        """The word where space does not part it: the value of an assignment."""
        pieces, known = [], True
        for part in word.parts:
            found = [Field(part.source, known=True)] if part.kind is PartKind.TEXT else self._of(part)
            if found is None:
                found, known = [Field(_solid(part.source), known=False)], False
            pieces += _with_blanks(found)
            known = known and all(field.known for field in found)
        many = not known and len(word.parts) == 1
        return Field(joined(pieces), known, many)

    def _put(self, builder: _Builder, part: Part) -> None:
        if part.kind is PartKind.TEXT:
            builder.add(part.source)
            return
        found = self._of(part) if part.operator or part.name not in self._outputs else None
        if found is None:
            spreads = part.name in ("@", "*") or part.operator == "["
            builder.add_unknown(part.source, spreads=not part.quoted or spreads)
        elif part.quoted and part.operator != "[":
            builder.add_fields([_as_one(found)])
        else:
            builder.add_fields(found if part.quoted else _parted(found))

    def _of(self, part: Part) -> list[Field] | None:
        """What a variable gives; None where that is unknown."""
        expression = _EXPRESSION.fullmatch(part.source.text) if part.kind is PartKind.SUBSTITUTION else None
        if expression is not None:
            found = self.value(expression[1])
            return None if found is None else list(found)
        if part.kind is not PartKind.VARIABLE or part.operator not in _FOLLOWED:
            return None
        found = self.value(part.name)
        if found is not None and part.operator == "" and part.name in self._arrays:
            found = found[:1]
        if part.operator in (":-", "-", ":=", "=") and part.default is not None:
            if found is None and not part.default.parts:
                return None  # `${EXTRA:-}` is a place for what whoever runs it adds
            return list(found) if found else self._default(part.default)
        if part.operator in (":+", "+") and part.default is not None:
            return None if found is None else self._default(part.default) if found else []
        return None if found is None else list(found)

    def _default(self, word: RawWord) -> list[Field]:
        return [self._whole(word)]


def _output(assignment: Assignment) -> Mapped | None:
    """The substitution that is all of an assigned value: `IMAGE=$(docker build -q .)`."""
    parts = [part for item in assignment.items for part in item.parts if part.source.text]
    is_one = len(parts) == 1 and not assignment.is_array and parts[0].kind is PartKind.SUBSTITUTION
    return parts[0].source if is_one else None


_UNKNOWN = Field(Mapped(""), known=False, many=True)


class _Builder:
    """Puts pieces together to words."""

    def __init__(self) -> None:
        self._done: list[Field] = []
        self._pieces: list[Mapped] | None = None
        self._known = True
        self._alone = True
        self._spreads = False
        self._has_text = False

    def add(self, piece: Mapped, *, known: bool = True) -> None:
        if self._pieces is None:
            self._pieces = []
        # Of `"$@"`, the quotes give an empty piece.
        self._alone = not self._has_text
        self._has_text = self._has_text or bool(piece.text)
        self._pieces.append(piece)
        self._known = self._known and known

    def add_unknown(self, piece: Mapped, *, spreads: bool) -> None:
        self.add(piece, known=False)
        self._spreads = spreads

    def add_fields(self, fields: Iterable[Field]) -> None:
        for number, field in enumerate(fields):
            if number:
                self._end()
            self.add(field.source, known=field.known)
            self._spreads = self._spreads or field.many

    def _end(self) -> None:
        if self._pieces is not None:
            many = not self._known and self._alone and self._spreads
            self._done.append(Field(joined(self._pieces), self._known, many))
        self._pieces, self._known, self._alone, self._spreads = None, True, True, False
        self._has_text = False

    def done(self) -> list[Field]:
        """The words."""
        self._end()
        return self._done


def _parted(fields: Iterable[Field]) -> list[Field]:
    """Fields cut at space, as an unquoted variable is."""
    return [part for field in fields for part in _cut(field)]


def _cut(field: Field) -> Iterator[Field]:
    for found in _FIELD.finditer(field.source.text):
        source = field.source.cut(found.start(), found.end())
        known = field.known or "$" not in found[0]
        yield Field(source, known, not known and _VARIABLE.fullmatch(found[0]) is not None)


def _solid(source: Mapped) -> Mapped:
    """What is not known, so that it is not cut at its space."""
    return source.replaced(_SPACE.sub(lambda space: "_" * len(space[0]), source.text))


def _as_one(fields: list[Field]) -> Field:
    return Field(joined(_with_blanks(fields)), all(field.known for field in fields))


def _with_blanks(fields: Iterable[Field]) -> list[Mapped]:
    pieces: list[Mapped] = []
    for field in fields:
        if pieces:
            pieces.append(Mapped(" "))
        pieces.append(field.source)
    return pieces


def _texts(fields: _Items) -> list[str]:
    return [field.source.text for field in fields]


def _starts_with(longest: _Items, value: _Items) -> bool:
    return " ".join(_texts(longest)).startswith(" ".join(_texts(value)))


def _says_little(value: _Items) -> bool:
    """Whether it is known, and gives a container nothing that counts: `-it` in one branch, `-d` in another."""
    return all(field.known for field in value) and _LITTLE.fullmatch(" ".join(_texts(value))) is not None


def _size(values: Iterable[_Items]) -> int:
    return sum(len(field.source.text) for value in values for field in value)
