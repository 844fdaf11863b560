"""What a shell script consists of: simple commands, their words, and the parts of these, each with its place."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

from dllint.patterns import pattern
from dllint.records import dataclass, field
from dllint.syntax.mapped import Mapped

if TYPE_CHECKING:
    from dllint.syntax.shell_forks import Way

ASSIGNED = pattern(r"([A-Za-z_]\w*)(?:\[[^\]\n]*\])?(\+?)=")
"""What an assignment begins with: its name, and whether it adds."""


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
    def text(self) -> str:
        """Its characters without quotes, variables as written."""
        return "".join(part.source.text for part in self.parts)

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
    ways: tuple[Way, ...] = ()
    """Those of the forks around it that lead to it."""
    is_chosen: bool = False
    """Whether nothing but these, and the call of its function, decides whether it runs."""
    function: str = ""
    """The innermost function whose body it stands in."""
    body: int = 0
    """Tells the body of that function from another one of the same name."""
    is_apart: bool = False
    """Whether it runs beside the script, which goes on: in the background, or as a part of a pipe."""
    words: list[RawWord] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    written_to: list[RawWord] = field(default_factory=list)
    """Files that its output goes to."""
    read_from: list[RawWord] = field(default_factory=list)
    """Files that its input comes from."""
    documents: list[HereDocument] = field(default_factory=list)
    pipes: bool = False
    """Whether its output is read by the next command."""
    looped: str = ""
    """Of `for NAME in a b`: the variable; the words are its values."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was read yet."""
        return not (self.words or self.assignments or self.written_to or self.documents or self.looped)


def assigned(word: RawWord) -> Assignment | None:
    """What `NAME=value`, read as a word, assigns."""
    first = word.parts[0] if word.parts else None
    if first is None or first.kind is not PartKind.TEXT or first.quoted:
        return None
    found = ASSIGNED.match(first.source.text)
    if found is None:
        return None
    rest = Part(PartKind.TEXT, first.source.cut(found.end()), quoted=False)
    parts = ([rest] if rest.source.text else []) + word.parts[1:]
    return Assignment(found[1], bool(found[2]), [RawWord(parts)])
