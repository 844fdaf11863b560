"""What the fixture tests share: copy a labelled project without its labels, lint it, and compare."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from dllint.files import Project, discover
from dllint.finding import Finding
from dllint.linter import Report, lint
from dllint.records import replace
from dllint.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"

LABEL = re.compile(r"[ \t]*(?:#|//) expect(?P<opt_in>-opt-in)?: (?P<codes>DLL\d{3}(?:, ?DLL\d{3})*)[ \t]*$")
EXPECT_LINE = re.compile(r"(?P<path>\S+):(?P<row>\d+) (?P<code>DLL\d{3})$")
EXPECT_FILE = "EXPECT"


@dataclass(frozen=True, order=True)
class Label:
    """A report that a fixture asks for."""

    path: str
    row: int
    code: str


@dataclass
class Case:
    """One fixture: a file, or the folder of a project."""

    source: Path
    labels: set[Label] = field(default_factory=set)

    def unpack(self, target: Path) -> None:
        """Copy to `target` what dllint shall see, and collect the labels."""
        for path in self._files():
            name = self._name(path)
            data = path.read_bytes()
            if path.name == EXPECT_FILE:
                self.labels.update(listed(data.decode()))
                continue
            copy = target / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            labels, stripped = split_labels(name, data)
            self.labels.update(labels)
            copy.write_bytes(stripped)

    def _files(self) -> Iterable[Path]:
        if self.source.is_file():
            return [self.source]
        return sorted(path for path in self.source.rglob("*") if path.is_file() and "__pycache__" not in path.parts)

    def _name(self, path: Path) -> str:
        folder = self.source.parent if self.source.is_file() else self.source
        return path.relative_to(folder).as_posix()


def split_labels(name: str, data: bytes) -> tuple[list[Label], bytes]:
    """The labels in the text of a file, and the same bytes without them. Line ends stay what they were."""
    labels = []
    # Latin-1 gives each byte back as it was: some fixtures are there to be undecodable.
    lines = data.decode("latin-1").split("\n")
    for row, line in enumerate(lines, 1):
        body = line.removesuffix("\r")
        match = LABEL.search(body)
        if match is None:
            continue
        labels += [Label(name, row, code.strip()) for code in match["codes"].split(",")]
        lines[row - 1] = body[: match.start()] + line[len(body) :]
    return labels, "\n".join(lines).encode("latin-1")


def listed(text: str) -> Iterator[Label]:
    """The labels of an EXPECT file."""
    for line in text.splitlines():
        match = EXPECT_LINE.match(line.strip())
        assert match, f"EXPECT holds a line that is no label: {line!r}"
        yield Label(match["path"], int(match["row"]), match["code"])


@contextmanager
def workspace() -> Iterator[Path]:
    """The empty folder of a project. Its path does not hold the word "test", which would say something about it."""
    with tempfile.TemporaryDirectory(prefix="dllint-") as name:
        folder = Path(name).resolve()
        # Marks the root: what else lies in the temporary folder of this machine is no part of the project.
        (folder / ".git").mkdir()
        yield folder


def run(path: Path, select: Iterable[str] = ()) -> Report:
    """Lint `path` with the default rules and those of `select`."""
    settings = replace(Settings(), extend_select=tuple(sorted(set(select))))
    return lint(discover([str(path)], settings, None), settings)


def discovered(folder: Path, files: dict[str, str]) -> tuple[Sequence[Project], Settings]:
    """The projects that these files (name -> text) make in a folder, and settings to lint them in this process."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    settings = replace(Settings(), jobs=1)
    return discover([str(folder)], settings, None), settings


def lint_texts(files: dict[str, str], code: str) -> list[Finding]:
    """Lint a project of these files (name -> text), with the rule `code` on."""
    with workspace() as folder:
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        report = run(folder, [code])
    assert not report.errors, report.errors
    return report.findings


def lint_case(case: Case, codes: Iterable[str]) -> tuple[set[Label], list[str]]:
    """The labels of `case` that no finding meets, and the findings that no label asks for."""
    with workspace() as folder:
        case.unpack(folder)
        report = run(folder, {*codes, *(label.code for label in case.labels)})
        assert not report.errors, report.errors
        found = [(relative(finding, folder), finding) for finding in report.findings]
    missed = {label for label in case.labels if not any(meets(label, path, finding) for path, finding in found)}
    unasked = [
        f"{path}:{finding.location.row} {finding.code} {finding.message}"
        for path, finding in found
        if not any(meets(label, path, finding) for label in case.labels)
    ]
    return missed, unasked


def relative(finding: Finding, folder: Path) -> str:
    return Path(finding.location.path).resolve().relative_to(folder).as_posix()


def meets(label: Label, path: str, finding: Finding) -> bool:
    """Is this the finding that the label asks for? A label may stand on any line of a call that spans several."""
    span = finding.location
    return (label.code, label.path) == (finding.code, path) and span.row <= label.row <= span.end_row


def cases() -> list[Case]:
    """All fixtures: files and folders named bad_* and good_* in the folder of a rule, and the showcase."""
    paths = [*(path for path in sorted(FIXTURES.glob("DLL*/*")) if is_case(path)), FIXTURES / "showcase"]
    return [Case(path) for path in paths]


def is_case(path: Path) -> bool:
    return path.name.startswith(("bad_", "good_"))
