"""What a rule reports: findings, where they are, and what would mend them.

Rows and columns count from 1; columns count characters (code points), not bytes. Paths stand as the user gave them.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, IntEnum

from dllint.records import dataclass


class Severity(IntEnum):
    """How bad a finding is; the order is the order of badness."""

    INFO = 1
    """Only slower, or could be safer. Rules of this severity are off by default."""
    WARNING = 2
    """Leaks, stalls, or fails on some platform or some day."""
    ERROR = 3
    """The run crashes, hangs or yields wrong data."""

    @property
    def label(self) -> str:
        """How it is written: `error`."""
        return self.name.lower()


class Failure(Enum):
    """The class of run-time failure that a rule guards against."""

    SHARED_MEMORY = "A"
    WORKER_DIED = "B"
    DESCRIPTORS = "C"
    CUDA = "D"
    STALL = "E"
    REFUSED_ARGUMENTS = "F"
    START_UP = "G"
    WRONG_SAMPLES = "H"
    SLOW = "S"
    TOOL = "T"
    """Not a failure of the program: dllint itself could not do its work."""

    @property
    def label(self) -> str:
        """How it is written: `wrong samples`."""
        return self.name.lower().replace("_", " ")


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A span of text: from (row, column) up to, but not including, (end_row, end_column)."""

    path: str
    row: int
    column: int
    end_row: int
    end_column: int
    cell: int = 0
    """The cell of a notebook that the rows count in, from 1; 0 outside of notebooks."""
    raw: tuple[int, int, int, int] | None = None
    """In a notebook: the same span, as rows and columns of the file."""

    @property
    def in_file(self) -> Location:
        """The span as rows and columns of the file, for whoever knows no cells."""
        return self if self.raw is None else Location(self.path, *self.raw)


@dataclass(frozen=True, slots=True)
class Related:
    """Another place on the way to the failure, with a label that says what happens there."""

    message: str
    location: Location


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of `location` with `text`."""

    location: Location
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A set of edits that belong together. A safe fix never changes what a correct program does."""

    title: str
    edits: tuple[Edit, ...]
    safe: bool


@dataclass(frozen=True, slots=True)
class Finding:
    """One cause of failure at one primary location, with the way that leads to it."""

    code: str
    name: str
    message: str
    severity: Severity
    failure: Failure
    location: Location
    help: str = ""
    related: tuple[Related, ...] = ()
    symbol: str = ""
    """Qualified name of the class or function that the finding is about: part of its identity."""
    evidence: str = ""
    """What in the source makes this finding (an argument, an attribute): part of its identity."""
    fix: Fix | None = None

    @property
    def identity(self) -> str:
        """A stable key: rule, file, symbol and evidence; neither line numbers nor the message."""
        import hashlib  # loads OpenSSL, which only some output formats need

        parts = (self.code, self.location.path, self.symbol, self.evidence)
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:16]

    def sort_key(self) -> tuple[str, int, Location, str, str]:
        """By this, findings stand in the order of the source."""
        return (self.location.path, self.location.cell, self.location, self.code, self.message)

    def locations(self) -> Iterator[Location]:
        """The primary location, then the related ones."""
        yield self.location
        for item in self.related:
            yield item.location
