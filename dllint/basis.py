"""What a rule's claim rests on: how it is known that the failure is real, and not only told.

The programs that prove it lie in `tests/evidence/programs`; the tests there hold that a rule claims what they show.
"""

from __future__ import annotations

from enum import Enum

from dllint.records import dataclass

TORCH = "2.13.0"
"""The release of torch that the programs are run on."""


class Grade(Enum):
    """How good the evidence is, from the best down."""

    PROVEN = "proven"
    READ = "read"
    REPORTED = "reported"
    UNPROVEN = "unproven"


@dataclass(frozen=True, slots=True)
class Basis:
    """How well a claim is known, the whole of it in words, and the start methods that it was shown with."""

    grade: Grade
    text: str
    start_methods: tuple[str, ...] = ()


def proven(*start_methods: str, simulated: str = "") -> Basis:
    """Programs show it on torch: under these start methods, or whatever the method is. Something may be simulated."""
    remarks = [", ".join(start_methods)] if start_methods else []
    remarks += [f"{simulated} simulated"] if simulated else []
    text = f"proven on torch {TORCH}" + (f" ({'; '.join(remarks)})" if remarks else "")
    return Basis(Grade.PROVEN, text, start_methods)


def read(where: str) -> Basis:
    """It stands in a source or a reference, and cannot be shown by a program on a CPU."""
    return Basis(Grade.READ, f"read in {where}")


def reported(*issues: str) -> Basis:
    """Others met it, in issues such as `pytorch#973`."""
    return Basis(Grade.REPORTED, f"reported ({', '.join(issues)})")


def unproven(why: str) -> Basis:
    """Nothing of that holds, and why."""
    return Basis(Grade.UNPROVEN, f"unproven: {why}")
