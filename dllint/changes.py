"""`--new-since REV`: what was to find already at a git revision is not reported.

Both sides are linted whole, not only the changed lines: eight workers in train.py make a fault of a file handle in
data.py that nobody has touched.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from dllint.files import discover
from dllint.finding import Finding
from dllint.linter import Report, lint
from dllint.records import replace
from dllint.revisions import Repository, RevisionError, Unpacked
from dllint.settings import Settings


class _Key(NamedTuple):
    """What a finding is known by on both sides."""

    code: str
    path: str
    """As the working tree has it, from the top of the repository."""
    symbol: str
    """Empty in a renamed file: symbols begin with the name of the module."""
    evidence: str
    line: str = ""


class OldFindings:
    """What was to find at a revision."""

    def __init__(self, keys: Sequence[_Key], unpacked: Unpacked) -> None:
        self._keys = keys
        self._unpacked = unpacked

    @classmethod
    def at(cls, revision: str, paths: Sequence[str], settings: Settings) -> OldFindings:
        """Lint what `paths` were at `revision`. Raises RevisionError where there is no such thing."""
        repository = _repository(paths)
        with tempfile.TemporaryDirectory(prefix="dllint-") as folder:
            unpacked = Unpacked.of(repository, revision, os.path.realpath(folder))
            wanted = _old_paths(paths, unpacked)
            moved = replace(settings, root=unpacked.old(settings.root) if settings.root else "")
            report = lint(discover(wanted, moved), moved) if wanted else Report()
            new_names = {old: new for new, old in unpacked.renamed.items()}
            keys = [_old_key(finding, report, unpacked, new_names) for finding in report.findings]
        return cls(keys, unpacked)

    def hide(self, report: Report) -> None:
        """Move what was to find already from the findings of `report` to those that are known.

        First those with the same line of source, then, with what is left, those of which the line was edited.
        """
        keys = [self._key(finding, report) for finding in report.findings]
        left = Counter(self._keys)
        known = [_taken(left, key) for key in keys]
        edited = Counter(key._replace(line="") for key in left.elements())
        known = [was or _taken(edited, key._replace(line="")) for was, key in zip(known, keys, strict=True)]
        findings = list(zip(report.findings, known, strict=True))
        report.findings = [finding for finding, was in findings if not was]
        report.baselined += [finding for finding, was in findings if was]

    def _key(self, finding: Finding, report: Report) -> _Key:
        path = self._unpacked.relative(finding.location.path)
        return _keyed(finding, report, path, renamed=path in self._unpacked.renamed)


def _taken(left: Counter[_Key], key: _Key) -> bool:
    if left[key] <= 0:
        return False
    left[key] -= 1
    return True


def _old_key(finding: Finding, report: Report, unpacked: Unpacked, new_names: dict[str, str]) -> _Key:
    old = os.path.relpath(finding.location.path, unpacked.folder).replace(os.sep, "/")
    return _keyed(finding, report, new_names.get(old, old), renamed=old in new_names)


def _keyed(finding: Finding, report: Report, path: str, *, renamed: bool) -> _Key:
    line = "".join(report.line(finding.location).split())
    return _Key(finding.code, path, "" if renamed else finding.symbol, finding.evidence, line)


def _repository(paths: Sequence[str]) -> Repository:
    tops = {}
    for path in paths:
        absolute = os.path.abspath(path)
        folder = absolute if os.path.isdir(absolute) else os.path.dirname(absolute)
        repository = Repository.around(folder)
        tops[repository.top] = repository
    if len(tops) > 1:
        raise RevisionError(f"--new-since: the paths lie in several repositories: {', '.join(sorted(tops))}")
    return next(iter(tops.values()))


def _old_paths(paths: Sequence[str], unpacked: Unpacked) -> list[str]:
    """What `paths` were at the revision, as far as they existed."""
    found: dict[str, None] = {}
    for path in paths:
        found[unpacked.old(path)] = None
        if os.path.isdir(path):
            found |= dict.fromkeys(unpacked.sources_below(path))
    return [path for path in found if os.path.exists(path)]
