"""The committed list of findings, one a line, with the verdict of whoever read it; and what has changed since."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

DIGEST = Path(__file__).with_name("digest.tsv")
VERDICTS = ("true", "false", "debatable")
HEAD = ("package", "path", "line", "code", "verdict", "reason")


class DigestError(Exception):
    """A line that is no entry."""


@dataclass(frozen=True, order=True)
class Entry:
    """One finding. The verdict is empty until someone has read the code that it speaks of."""

    package: str
    path: str
    line: int
    code: str
    verdict: str = ""
    reason: str = ""

    @property
    def place(self) -> str:
        """How a command line names the entry."""
        return f"{self.package}/{self.path}:{self.line}:{self.code}"

    @property
    def found(self) -> Entry:
        """The same as a run finds it: without a verdict."""
        return replace(self, verdict="", reason="")


@dataclass
class Difference:
    """What a run found otherwise than the digest says. `moved` has pairs: as it was known, as it was found."""

    new: list[Entry] = field(default_factory=list)
    gone: list[Entry] = field(default_factory=list)
    moved: list[tuple[Entry, Entry]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.new or self.gone or self.moved)

    def lines(self) -> Iterator[str]:
        """For people to read."""
        yield from (f"new    {entry.place}" for entry in self.new)
        yield from (f"gone   {entry.place}  {entry.verdict or 'unread'}" for entry in self.gone)
        yield from (f"moved  {was.place} to line {now.line}" for was, now in self.moved)


def read(text: str) -> list[Entry]:
    """The entries of a digest."""
    head, *lines = text.splitlines()
    if head.split("\t") != list(HEAD):
        raise DigestError(f"the columns are not {', '.join(HEAD)}")
    return [_entry(line) for line in lines]


def _entry(line: str) -> Entry:
    columns = line.split("\t")
    if len(columns) != len(HEAD) or not columns[2].isdigit():
        raise DigestError(f"not an entry: {line!r}")
    package, path, row, code, verdict, reason = columns
    if verdict and (verdict not in VERDICTS or not reason):
        raise DigestError(f"not one of {', '.join(VERDICTS)} with a reason: {line!r}")
    return Entry(package, path, int(row), code, verdict, reason)


def written(entries: Iterable[Entry]) -> str:
    """The text of a digest, sorted, so that a change of a finding is a change of its line alone."""
    rows = [(e.package, e.path, str(e.line), e.code, e.verdict, e.reason) for e in sorted(entries)]
    return "".join("\t".join(row) + "\n" for row in [HEAD, *rows])


def compare(known: Sequence[Entry], found: Sequence[Entry]) -> Difference:
    """What is new, gone, and moved to another line of the same file."""
    before, after = Counter(entry.found for entry in known), Counter(found)
    lost, new = sorted((before - after).elements()), sorted((after - before).elements())
    difference = Difference()
    for entry in _with_verdicts(lost, known):
        elsewhere = next((other for other in new if _same_but_for_the_line(entry, other)), None)
        if elsewhere is None:
            difference.gone.append(entry)
        else:
            new.remove(elsewhere)
            difference.moved.append((entry, elsewhere))
    difference.new = new
    return difference


def _same_but_for_the_line(one: Entry, other: Entry) -> bool:
    return (one.package, one.path, one.code) == (other.package, other.path, other.code)


def _with_verdicts(found: Iterable[Entry], known: Iterable[Entry]) -> list[Entry]:
    verdicts = {entry.found: entry for entry in known}
    return [verdicts.get(entry, entry) for entry in found]


def merged(known: Sequence[Entry], found: Sequence[Entry]) -> list[Entry]:
    """What was found, with the verdicts that were known, also of what has moved."""
    moved = {now: replace(was, line=now.line) for was, now in compare(known, found).moved}
    return [moved.get(entry, entry) for entry in _with_verdicts(found, known)]
