"""The programs of tests/evidence/programs, and what the first lines of each say of it.

One that has a rule's fault is called `bad...`, its repaired twin `good...`. It is a file, or the folder of a small
project with a `train.py`. Comments at its top say what comes of it, and what it needs:

    # under fork: hangs
    # under spawn forkserver: fails: TypeError: cannot pickle '_thread.lock' object
    # needs: h5py

A program `runs` (ends well), `fails` (ends badly) or `hangs`; a text behind that must stand in its output. In it `...`
is anything, and ` | ` stands between what different releases say. `always` takes the place of `under ...` where the
start method does not matter. Good programs run under all methods of their bad twins unless they say otherwise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent / "programs"
ALWAYS = "always"
LINE = re.compile(r"# (?P<key>[^:]+): *(?P<value>.*)")
OUTCOME = re.compile(r"(?P<kind>runs|fails|hangs)(?:: *(?P<text>.+))?")
KEYS = {
    "needs": "packages beside torch",
    "nofile": "a limit of open files",
    "shm": "a /dev/shm of its own, and its size",
    "simulates": "CUDA, as far as torch's own check of forked processes goes",
}


@dataclass(frozen=True)
class Outcome:
    """How a program ends, and what it has said by then."""

    kind: str
    text: str = ""

    def met_by(self, kind: str, output: str) -> bool:
        """Is this what happened? Line ends and indents in the output do not count."""
        seen = " ".join(output.split())
        return kind == self.kind and any(re.search(pattern(text), seen) for text in self.text.split(" | "))


def pattern(text: str) -> str:
    """The regular expression for a text of a head."""
    return ".*?".join(re.escape(" ".join(part.split())) for part in text.split("..."))


RUNS = Outcome("runs")


@dataclass(frozen=True)
class Program:
    """One program: where it lies, and what its head says."""

    path: Path
    needs: dict[str, str]
    outcomes: dict[str, Outcome]

    @property
    def code(self) -> str:
        """The rule that it is about."""
        return self.path.parent.name

    @property
    def is_bad(self) -> bool:
        """Has it the fault?"""
        return self.path.name.startswith("bad")

    @property
    def script(self) -> Path:
        """The file that is run."""
        return script_of(self.path)

    @property
    def files(self) -> dict[str, str]:
        """Its files as dllint shall see them, without the head, by their names."""
        paths = sorted(self.path.iterdir()) if self.path.is_dir() else [self.path]
        texts = {path.name: path.read_text(encoding="utf-8") for path in paths if path.is_file()}
        return texts | {self.script.name: cut(texts[self.script.name])[1]}

    @property
    def failing_methods(self) -> set[str]:
        """The start methods under which the fault shows."""
        return {method for method, outcome in self.outcomes.items() if outcome.kind != "runs"} - {ALWAYS}


def script_of(path: Path) -> Path:
    """The file that is run of the program at `path`."""
    return path / "train.py" if path.is_dir() else path


def cut(text: str) -> tuple[list[str], str]:
    """The lines of a program's head, and the program without it."""
    lines = text.split("\n")
    length = next(row for row, line in enumerate(lines) if not line.startswith("#"))
    return lines[:length], "\n".join(lines[length:])


def parse(path: Path) -> Program:
    """What the program at `path` says of itself."""
    needs: dict[str, str] = {}
    outcomes: dict[str, Outcome] = {}
    for line in cut(script_of(path).read_text(encoding="utf-8"))[0]:
        entry = LINE.fullmatch(line)
        assert entry, f"{path}: no line of a head: {line!r}"
        first, *methods = entry["key"].split()
        if first in ("under", ALWAYS):
            outcomes |= dict.fromkeys(methods or [ALWAYS], outcome_in(entry["value"]))
        else:
            assert first in KEYS, f"{path}: {first!r} means nothing"
            needs[first] = entry["value"]
    return Program(path, needs, outcomes)


def outcome_in(text: str) -> Outcome:
    """The outcome that these words mean."""
    found = OUTCOME.fullmatch(text)
    assert found, f"runs, fails or hangs, not {text!r}"
    return Outcome(found["kind"], found["text"] or "")


def programs() -> list[Program]:
    """All programs. A good one that says nothing of start methods gets those of its bad twins."""
    parsed = [parse(path) for path in sorted(PROGRAMS.glob("DLL*/*")) if path.name.startswith(("bad", "good"))]
    return [program if program.outcomes else as_its_twins(program, parsed) for program in parsed]


def as_its_twins(good: Program, parsed: list[Program]) -> Program:
    """The good program, with an outcome for each method that the bad ones beside it name."""
    methods = [method for bad in parsed if bad.code == good.code and bad.is_bad for method in bad.outcomes]
    return Program(good.path, good.needs, dict.fromkeys(methods, RUNS))
