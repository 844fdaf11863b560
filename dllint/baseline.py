"""The baseline: findings that a project has made its peace with, in a file beside the code.

An entry is known by content (rule, file, symbol, evidence, text of the source line), so that it holds on when lines
move; two findings that are alike in all of these are two entries. The file has one entry a line, sorted, so that two
branches that add entries merge, and a change of it can be read.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from dllint.finding import Finding
from dllint.linter import Report
from dllint.output import slashed
from dllint.settings import SettingsError

_FORMAT = 1
_MARK = "dllint-baseline"
_LONGEST_LINE = 200
"""Lines are cut here: one line of generated code can be a megabyte."""


class BaselineError(SettingsError):
    """A baseline that cannot be read or written; the message names the file and says why."""


class Entry(NamedTuple):
    """What a finding is known by."""

    path: str
    """Relative to the folder of the baseline."""
    code: str
    symbol: str
    evidence: str
    line: str

    def __str__(self) -> str:
        return f"{self.path}: {self.code} {self.line}"


class Judged(NamedTuple):
    """What a run looked at, and so can say is gone."""

    paths: Collection[str]
    """The files that findings are reported in, as absolute paths."""
    codes: Collection[str]
    """The rules that ran."""


class Baseline:
    """The entries of one file."""

    def __init__(self, file: str, entries: Iterable[Entry] = ()) -> None:
        self.file = file
        self.entries = Counter(entries)

    @classmethod
    def read(cls, file: str) -> Baseline:
        """Read a baseline. Raises BaselineError for a file that is none."""
        try:
            with open(file, encoding="utf-8") as stream:
                text = stream.read()
        except OSError as error:
            hint = "; --write-baseline writes it" if isinstance(error, FileNotFoundError) else ""
            raise BaselineError(f"{file}: cannot be read as a baseline: {error.strerror}{hint}") from None
        except UnicodeDecodeError:
            raise BaselineError(f"{file}: not a baseline: not UTF-8") from None
        except ValueError as error:  # a NUL in the name
            raise BaselineError(f"{file}: cannot be read as a baseline: {error}") from None
        return cls(file, _parsed(text, file))

    def hide(self, report: Report, judged: Judged) -> None:
        """Move the findings that have an entry to `report.baselined`; tell in `report.stale` what no finding met."""
        left = Counter(self.entries)
        findings, report.findings = report.findings, []
        for finding in findings:
            entry = self._entry(finding, report)
            known = left[entry] > 0
            left[entry] -= known
            (report.baselined if known else report.findings).append(finding)
        gone = ((entry, number) for entry, number in left.items() if number > 0 and self._is_judged(entry, judged))
        report.stale = [str(entry) for entry, number in sorted(gone) for _ in range(number)]

    def updated(self, report: Report, judged: Judged) -> Baseline:
        """A baseline of all findings of `report`, and the entries of this one that the run cannot speak about."""
        found = [self._entry(finding, report) for finding in report.findings]
        kept = [entry for entry in self.entries.elements() if not self._is_judged(entry, judged)]
        return Baseline(self.file, [*found, *kept])

    def write(self) -> None:
        """Write the file. Raises BaselineError if it cannot be, or holds something else by now."""
        rows = [json.dumps(_as_dict(*item), sort_keys=False) for item in sorted(self.entries.items())]
        listed = ",\n".join(f"    {row}" for row in rows)
        text = f'{{\n  "{_MARK}": {_FORMAT},\n  "findings": [\n{listed}\n  ]\n}}\n'
        try:
            with open(self.file, "w", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
        except OSError as error:
            raise BaselineError(f"{self.file}: the baseline cannot be written: {error.strerror}") from None

    def _entry(self, finding: Finding, report: Report) -> Entry:
        line = " ".join(report.line(finding.location).split())[:_LONGEST_LINE]
        path = self._relative(finding.location.path)
        return Entry(path, finding.code, finding.symbol, finding.evidence, line)

    def _relative(self, path: str) -> str:
        absolute = os.path.abspath(path)
        try:
            return slashed(os.path.relpath(absolute, self._folder))
        except ValueError:  # another drive
            return slashed(absolute)

    @property
    def _folder(self) -> str:
        return os.path.dirname(os.path.abspath(self.file))

    def _is_judged(self, entry: Entry, judged: Judged) -> bool:
        absolute = os.path.normpath(os.path.join(self._folder, entry.path))
        looked_at = absolute in judged.paths or not os.path.exists(absolute)
        return looked_at and entry.code in judged.codes


def _as_dict(entry: Entry, number: int) -> dict[str, Any]:
    table: dict[str, Any] = entry._asdict()
    if number > 1:
        table["count"] = number
    return table


def _parsed(text: str, file: str) -> list[Entry]:
    try:
        document = json.loads(text)
    except ValueError as error:
        conflict = any(line.startswith(("<<<<<<< ", ">>>>>>> ")) for line in text.splitlines())
        reason = "it holds an unresolved merge conflict" if conflict else str(error)
        raise BaselineError(f"{file}: not a baseline: {reason}") from None
    except RecursionError:
        raise BaselineError(f"{file}: not a baseline: nested too deeply") from None
    if not isinstance(document, dict) or _MARK not in document:
        raise BaselineError(f'{file}: not a baseline: the key "{_MARK}" is missing')
    if document[_MARK] != _FORMAT:
        raise BaselineError(f"{file}: written by another version of dllint; --write-baseline writes it anew")
    rows = document.get("findings")
    if not isinstance(rows, list):
        raise BaselineError(f'{file}: not a baseline: "findings" must be a list')
    return [entry for number, row in enumerate(rows, 1) for entry in _entries(row, f"{file}: entry {number}")]


def _entries(row: object, place: str) -> list[Entry]:
    if not isinstance(row, dict):
        raise BaselineError(f"{place} must be a table")
    values = [row.get(name) for name in Entry._fields]
    number = row.get("count", 1)
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) < len(values):
        raise BaselineError(f"{place} must have a text for each of {', '.join(Entry._fields)}")
    if isinstance(number, bool) or not isinstance(number, int) or not 0 < number < 1_000_000:
        raise BaselineError(f"{place}: count must be a whole number of at least 1, not {number!r}")
    return [Entry(*texts)] * number


def rewritten(file: str) -> Baseline:
    """The baseline that `--write-baseline` starts from: what stands in the file, which need not exist.

    Raises BaselineError for a file that holds anything else: it is not overwritten.
    """
    if not os.path.lexists(file) or (os.path.isfile(file) and os.path.getsize(file) == 0):
        return Baseline(file)
    return Baseline.read(file)
