"""Rules and a program that are as simple as can be, to test everything around them: each line of text is a subject."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from dllint import cli, linter, registry, selection
from dllint.files import Project
from dllint.finding import Failure, Finding, Location, Related, Severity
from dllint.output import sarif
from dllint.registry import Entry
from dllint.rule import Rule
from dllint.settings import Settings
from dllint.suppressions import UnusedSuppression
from dllint.syntax.python import Source


@dataclass(frozen=True)
class Line:
    """One line of one file."""

    path: str
    row: int
    text: str

    def span(self, word: str) -> Location:
        column = self.text.index(word) + 1
        return Location(self.path, self.row, column, self.row, column + len(word))


class StubProgram:
    """The lines of a project's files."""

    def __init__(self, project: Project, settings: Settings) -> None:
        self.sources = {file.path: Source(file.path, file.read()) for file in project.files}

    size = 0

    def prepare(self) -> None:
        """Nothing is shared by these subjects."""

    def subjects(self, kind: str) -> Iterable[Line]:
        assert kind == "Line"
        for path, source in self.sources.items():
            for row, text in enumerate(source.lines, 1):
                yield Line(path, row, text)

    def source(self, path: str) -> Source | None:
        return self.sources.get(path)


def word_rule(code: str, name: str, severity: Severity, word: str, **more: Any) -> Rule:
    """A rule that reports each line with `word` in it."""
    rule = Rule(code, name, severity, Failure.STALL, "0.1", **more)

    @rule.check
    def check(line: Line) -> Iterator[Finding]:
        if word in line.text:
            at = line.span(word)
            first = Related("the file starts here", Location(line.path, 1, 1, 1, 2))
            yield rule.finding(at, f"This line is {word}", help=f"make it less {word}", related=[first], symbol="f")

    rule.doc = f"{code} {name}\n\n## What it does\nReports lines that are {word}. Really.\n\n## Example\n{word}\n"
    return rule


def raising_rule() -> Rule:
    """A rule with a defect: it raises on lines with `raise` in them."""
    rule = Rule("DLL905", "raising", Severity.ERROR, Failure.STALL, "0.1")

    @rule.check
    def check(line: Line) -> Iterator[Finding]:
        if "raise" in line.text:
            raise ZeroDivisionError("a defect")
        yield from ()

    return rule


def unused_rule() -> Rule:
    """The rule for suppressions that suppress nothing."""
    rule = Rule("DLL906", "unused", Severity.WARNING, Failure.TOOL, "0.1", opt_in=True)

    @rule.check
    def check(unused: UnusedSuppression) -> Iterator[Finding]:
        at = Location(unused.path, unused.row, unused.column, unused.row, unused.end_column)
        yield rule.finding(at, f"Unused {unused.selector}")

    return rule


RULES = {
    rule.code: rule
    for rule in (
        word_rule("DLL901", "bad-line", Severity.ERROR, "bad"),
        word_rule("DLL902", "odd-line", Severity.WARNING, "odd", replaced_by=("DLL901",)),
        word_rule("DLL903", "slow-line", Severity.INFO, "slow", opt_in=True),
        raising_rule(),
        unused_rule(),
    )
}


class StubEntry(Entry):
    """An entry of a rule that no module holds."""

    @property
    def rule(self) -> Rule:
        return RULES[self.code]


def _entry(rule: Rule) -> Entry:
    assert rule.subject is not None
    return StubEntry(rule.code, rule.name, rule.opt_in, rule.subject.__name__, module="")


LISTING = {code: _entry(rule) for code, rule in RULES.items()}


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run with the rules and the program of this module."""
    for module in (registry, selection, linter, sarif):
        monkeypatch.setattr(module, "listing", lambda: LISTING)
    monkeypatch.setattr(cli, "registry", lambda: RULES)
    monkeypatch.setattr(linter, "_load", StubProgram)
