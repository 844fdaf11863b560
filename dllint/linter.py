"""The whole run: rules over the subjects of each project, then all that decides which findings are reported."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from dllint.files import Kind, Project
from dllint.finding import Finding, Location
from dllint.parallel import shared_out, shares
from dllint.records import dataclass, field, replace
from dllint.registry import Entry, listing
from dllint.selection import enabled_rules, ignored_in, is_shown, severity_of
from dllint.settings import Settings
from dllint.suppressions import Applied, Source, UnusedSuppression

_WORTH_SHARING = 300_000

Progress = Callable[[int, int], None]
"""Called with how many steps are done, and how many there are."""


class Program(Protocol):
    """What is known of one project; `dllint.whole.WholeProject` is the real one."""

    @property
    def size(self) -> int:
        """Bytes of what may matter in the project: a measure of the work."""

    def prepare(self) -> None:
        """Find out what all subjects share, before the work is shared out."""

    def subjects(self, kind: str) -> Iterable[Any]:
        """All datasets, loaders, ... of the project: what a rule is called with whose subject is the class `kind`."""

    def source(self, path: str) -> Source | None:
        """The text of the file with this path; None for a file that the program does not know."""


@dataclass(frozen=True, slots=True)
class InternalError:
    """A rule (or, with an empty code, the analysis itself) that raised: a defect of dllint, never of what it reads."""

    code: str
    path: str
    traceback: str

    @property
    def summary(self) -> str:
        """One line that says what failed where."""
        return f"internal error in {self.code or 'the analysis'} on {self.place}: {self.cause}"

    @property
    def place(self) -> str:
        """The file, or what to call it where there is none."""
        return self.path or "the project"

    @property
    def cause(self) -> str:
        """The last line of the traceback."""
        return self.traceback.strip().splitlines()[-1]

    @property
    def defect(self) -> tuple[str, str, str]:
        """What two errors have in common that are one defect: the file, the cause, and the line that raised."""
        raised = [line for line in self.traceback.splitlines() if line.startswith("  File ")]
        return self.path, self.cause, raised[-1] if raised else ""


def summaries(errors: Iterable[InternalError]) -> Iterator[tuple[InternalError, str]]:
    """One line for each file and defect, with the first of the errors that it speaks of.

    What breaks a fact of a file raises in each rule that asks for it: that is one defect.
    """
    groups: dict[tuple[str, str, str], list[InternalError]] = {}
    for error in errors:
        groups.setdefault(error.defect, []).append(error)
    for first, *others in groups.values():
        rules = len({error.code for error in others} - {first.code})
        more = f" and {rules} other rule{'s' if rules > 1 else ''}" if rules else ""
        times = f" ({len(others) + 1} times)" if others else ""
        yield first, f"internal error in {first.code or 'the analysis'}{more} on {first.place}: {first.cause}{times}"


@dataclass(slots=True)
class Report:
    """What a run found, sorted by place."""

    findings: list[Finding] = field(default_factory=list)
    suppressed: list[Finding] = field(default_factory=list)
    baselined: list[Finding] = field(default_factory=list)
    """What a baseline, or an older revision, knows already."""
    stale: list[str] = field(default_factory=list)
    """Entries of the baseline that no finding met: file, rule and source line of each."""
    errors: list[InternalError] = field(default_factory=list)
    file_count: int = 0
    """How many files were asked for."""
    fixed: int = 0
    """How many findings were mended before this run."""
    programs: dict[str, Program] = field(default_factory=dict)
    """The program that each reported path belongs to: where output finds source lines."""

    def line(self, place: Location) -> str:
        """The text of the line that a location begins in, without its end; empty where it cannot be had."""
        program = self.programs.get(place.path)
        source = program.source(place.path) if program else None
        if place.cell:
            from dllint.syntax.notebook import Notebook

            return source.text_at(place) if isinstance(source, Notebook) else ""
        if source is None or not 0 < place.row <= len(source.lines):
            return ""
        return source.lines[place.row - 1].rstrip("\r\n")


def lint(
    projects: Sequence[Project],
    settings: Settings,
    *,
    load: Callable[[Project, Settings], Program] | None = None,
    progress: Progress = lambda done, total: None,
) -> Report:
    """Run the enabled rules on `projects`; report what stands in their targets.

    `load` makes the program of a project. Raises SettingsError for selectors that no rule matches; a rule that raises
    becomes an InternalError in the report and costs no other finding.
    """
    rules = enabled_rules(settings)
    report = Report()
    with _no_garbage_collection():
        for number, project in enumerate(projects):
            step = _shifted(progress, number * len(rules), len(projects) * len(rules))
            _lint_project(project, settings, rules, report, load or _load, step)
    report.findings.sort(key=Finding.sort_key)
    report.suppressed.sort(key=Finding.sort_key)
    return report


def _lint_project(
    project: Project, settings: Settings, rules: list[Entry], report: Report, load: Any, progress: Progress
) -> None:
    targets = {file.path: file for file in project.targets}
    report.file_count += len(targets)
    try:
        program = load(project, settings)
    except Exception:
        report.errors.append(_error("", project.root))
        return
    found = _run_all(rules, program, settings, report, progress)
    places = {*targets, *project.unlisted}
    found = [finding for finding in found if finding.location.path in places and is_shown(settings, finding)]
    found = _without_replaced(_without_duplicates(found))
    found = [finding for finding in found if not ignored_in(settings, finding.location.path, finding.code)]
    python = {path for path, file in targets.items() if file.kind in (Kind.PYTHON, Kind.NOTEBOOK)}
    suppressions = Applied(program.source, targets, python, noqa=settings.noqa)
    hidden = len(report.suppressed)
    found = suppressions.split(found, report.suppressed)
    found += suppressions.split(_unused(suppressions, rules, settings, report), report.suppressed)
    report.findings += [_placed(_with_severity(finding, settings), program) for finding in found]
    report.suppressed[hidden:] = [_placed(finding, program) for finding in report.suppressed[hidden:]]
    report.programs |= {place.path: program for finding in found for place in finding.locations()}


def _run_all(
    rules: list[Entry], program: Program, settings: Settings, report: Report, progress: Progress
) -> list[Finding]:
    """All rules on all subjects, shared out over processes where there is enough to do."""
    count = _shares(program, settings)
    if count == 1:
        return list(_run_rules(rules, program, report, progress, (0, 1)))

    def work(number: int) -> tuple[list[Finding], list[InternalError]]:
        part = Report()
        step = progress if number == 0 else lambda done, total: None
        return list(_run_rules(rules, program, part, step, (number, count))), part.errors

    program.prepare()
    _import_used(rules, program)
    found: list[Finding] = []
    for findings, errors in shared_out(work, count):
        found += findings
        report.errors += errors
    return found


def _import_used(rules: list[Entry], program: Program) -> None:
    """Import what will run, once for all processes."""
    for rule in rules:
        if rule.subject != UnusedSuppression.__name__ and any(True for _ in _subjects(rule, program, Report())):
            _ = rule.rule


def _shares(program: Program, settings: Settings) -> int:
    """How many processes pay."""
    return 1 if program.size < _WORTH_SHARING else shares(settings.jobs)


def _run_rules(
    rules: list[Entry], program: Program, report: Report, progress: Progress, share: tuple[int, int]
) -> Iterator[Finding]:
    """The rules on one share of the subjects: with (k, n), the kth of n parts.

    Neighbours stay together: they stand in one module and have most of their worker code in common.
    """
    part, parts = share
    for done, rule in enumerate(rules, 1):
        if rule.subject != UnusedSuppression.__name__:
            subjects = list(_subjects(rule, program, report))
            first, end = (len(subjects) * number // parts for number in (part, part + 1))
            yield from _run_rule(rule, subjects[first:end], report)
        progress(done, len(rules))


def _subjects(rule: Entry, program: Program, report: Report) -> Iterator[Any]:
    try:
        yield from program.subjects(rule.subject)
    except Exception:
        report.errors.append(_error(rule.code, ""))


def _run_rule(rule: Entry, subjects: Sequence[Any], report: Report) -> Iterator[Finding]:
    """Where there is nothing to run it on, the rule is not even imported."""
    for subject in subjects:
        try:
            yield from rule.check(subject)
        except Exception:  # noqa: PERF203 - one subject that makes a rule raise costs no other finding
            report.errors.append(_error(rule.code, getattr(subject, "path", "")))


def _without_duplicates(findings: Iterable[Finding]) -> list[Finding]:
    return list({(finding.code, finding.location): finding for finding in reversed(list(findings))}.values())[::-1]


def _without_replaced(findings: list[Finding]) -> list[Finding]:
    """One cause gets one finding: drop it where a more specific rule reports on the same line."""
    lines = {(finding.code, finding.location.path, finding.location.row) for finding in findings}
    replaced_by = {code: listing()[code].rule.replaced_by for code in {finding.code for finding in findings}}

    def replaced(finding: Finding) -> bool:
        place = (finding.location.path, finding.location.row)
        return any((code, *place) in lines for code in replaced_by[finding.code])

    return [finding for finding in findings if not replaced(finding)]


def _unused(applied: Applied, rules: list[Entry], settings: Settings, report: Report) -> Iterator[Finding]:
    ran = {rule.code for rule in rules}
    for rule in rules:
        if rule.subject != UnusedSuppression.__name__:
            continue
        # That a comment switches this very rule off cannot be judged before this rule has run.
        others = ran - {rule.code}
        subjects = [subject for suppressions in applied.all() for subject in suppressions.unused(others)]
        for finding in _run_rule(rule, subjects, report):
            if not ignored_in(settings, finding.location.path, finding.code):
                yield finding


def _with_severity(finding: Finding, settings: Settings) -> Finding:
    severity = severity_of(settings, finding)
    return finding if severity is finding.severity else replace(finding, severity=severity)


def _placed(finding: Finding, program: Program) -> Finding:
    """A finding with its places in notebooks as cells and rows of these. An edit of such a text would miss the JSON."""
    if not any(place.path.endswith(".ipynb") for place in finding.locations()):
        return finding
    related = (replace(item, location=_in_cell(item.location, program)) for item in finding.related)
    fix = None if finding.location.path.endswith(".ipynb") else finding.fix
    return replace(finding, location=_in_cell(finding.location, program), related=tuple(related), fix=fix)


def _in_cell(place: Location, program: Program) -> Location:
    from dllint.syntax.notebook import Notebook

    source = program.source(place.path)
    return source.placed(place) if isinstance(source, Notebook) else place


def _error(code: str, path: str) -> InternalError:
    import traceback

    return InternalError(code, path, traceback.format_exc())


def _load(project: Project, settings: Settings) -> Program:
    from dllint.whole import WholeProject

    return WholeProject(project, settings)


def _shifted(progress: Progress, offset: int, total: int) -> Progress:
    return lambda done, _: progress(offset + done, total)


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Trees of syntax are many objects that stay: looking through them for cycles costs 15 % of a run."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # or the first collection would go through all of them after all
        if enabled:
            gc.enable()
