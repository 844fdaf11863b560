"""A failure that a log tells of, the lines that speak for it, and which of several came first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dllint.diagnose.masking import masked
from dllint.diagnose.signature import Role, Signature
from dllint.diagnose.times import Moment, comparable
from dllint.diagnose.tracebacks import Frame
from dllint.records import dataclass

_MOST_EVIDENCE = 5
_LONGEST_EVIDENCE = 500
LINES_BETWEEN, _SECONDS_BETWEEN = 400, 10
"""How far a symptom may stand before the cause that explains it: processes do not wait for one another."""


class Evidence(NamedTuple):
    """A line of the log that speaks for a failure."""

    line: int
    text: str
    when: Moment | None = None
    """The time on the line, or on the last one before it that has any."""


@dataclass
class Diagnosis:
    """One failure that a log tells of."""

    signature: Signature
    evidence: list[Evidence]
    """What tells of it first stands first."""
    frames: Sequence[Frame] = ()
    times: int = 1
    """How often the log tells of it."""

    @property
    def first(self) -> Evidence:
        """What tells of it first."""
        return self.evidence[0]

    def add(self, evidence: Sequence[Evidence], frames: Sequence[Frame]) -> None:
        """Take in that the log tells of it once more: in a log of several writers, perhaps of an earlier time."""
        self.times += 1
        clock = comparable((evidence[0].when, self.first.when))
        if clock and clock[0] < clock[1]:
            self.evidence[:0] = evidence
            self.frames = frames
        else:
            # A message that a signal handler prints has no traceback: that of main comes after it.
            self.frames = self.frames or frames
            self.evidence += [each for each in evidence if each not in self.evidence]
        del self.evidence[_MOST_EVIDENCE:]


def evidence_of(row: int, text: str, at: int = 0, when: Moment | None = None) -> Evidence:
    """The line, or the part of a long one around the place `at` that speaks."""
    if at > _LONGEST_EVIDENCE // 2:
        # Masked before it is cut: a value has to be seen with its name. From a word on, for what was cut in two before.
        before = masked(text[max(0, at - 4 * _LONGEST_EVIDENCE) : at])
        text = f"... {before[-_LONGEST_EVIDENCE // 4 :].partition(' ')[2]}{text[at:]}"
    return Evidence(row, masked(text.strip()[: 2 * _LONGEST_EVIDENCE])[:_LONGEST_EVIDENCE], when)


def in_order(failures: list[Diagnosis]) -> list[Diagnosis]:
    """First cause first, by the times in the log if all have one, else by line.

    A symptom stands behind a cause close to it, and warnings stand last.
    """
    clock = comparable(each.first.when for each in failures)
    reach = LINES_BETWEEN if clock is None else _SECONDS_BETWEEN
    lines = [each.first.line for each in failures]
    places = list(zip(lines if clock is None else clock, lines, strict=True))
    causes = [place for place, each in zip(places, failures, strict=True) if each.signature.role is Role.CAUSE]

    def rank(item: tuple[tuple[float, int], Diagnosis]) -> tuple[bool, tuple[float, int], bool]:
        place, role = item[0], item[1].signature.role
        explained = [each for each in causes if role is Role.SYMPTOM and place < each and each[0] <= place[0] + reach]
        return role is Role.NOTE, min(explained, default=place), bool(explained)

    return [failure for _, failure in sorted(zip(places, failures, strict=True), key=rank)]
