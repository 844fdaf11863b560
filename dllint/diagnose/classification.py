"""Which failures a log tells of: its lines against the signatures, with the tracebacks around them."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from dllint.diagnose.cleaning import Line, lines_of
from dllint.diagnose.diagnosis import LINES_BETWEEN, Diagnosis, Evidence, evidence_of, in_order
from dllint.diagnose.inferred import (
    CAUGHT,
    ENDED_BY_TIMEOUT,
    ENDED_WITHOUT_A_CAUSE,
    EXIT_STATUS,
    KILLED_FOR_MEMORY,
    LOST_BATCH,
    OOM_KILL,
    SAMPLE_ERRORS,
    SAMPLE_RAISED,
    WORKER_RAISED,
)
from dllint.diagnose.nearest import Near, Nearest
from dllint.diagnose.signature import Role, Signature
from dllint.diagnose.signatures import FEEDER, UNPICKLABLE
from dllint.diagnose.signs import candidates
from dllint.diagnose.times import Moment, moment
from dllint.diagnose.tracebacks import Traceback
from dllint.finding import Failure
from dllint.patterns import pattern
from dllint.records import dataclass, field

_ALERT, _CAUGHT_REACH = 20, 60
"""Lines that are read with care after a frame, and after an exception that a worker handed on."""
_WRAPPED_AT = 60
"""Length from which a line may have been broken by a terminal."""
_MOST_DULL = 20_000
_MOST_SKIPPED = 16
_MOST_KILLS = 64
_MOST_WRITERS = 1_000
_RAISED = pattern(
    r"(?:\S+\s+){0,3}?(?!(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\b)"
    r"(?:(?:[\w<>]+\.)+(?=\w)|(?=[A-Z]))(?P<name>\w+)(?::\s|:?\s*$)"
)
"""The last line of a traceback, behind prefixes that are not known."""
_ENDINGS = ("KeyboardInterrupt", "SystemExit", "GeneratorExit")
"""What a worker is told to end with; nothing went wrong in it."""
_WORKER_LOOP = pattern(r"(?:_utils/worker|utils/data/dataloader)\.py _worker_loop")
_FETCHING = pattern(r"_utils/fetch\.py |(?:_utils/worker|utils/data/dataloader)\.py <listcomp>")
"""The second as up to torch 1.1, as is a loop of workers in dataloader.py up to 0.4."""
_COLLATING = pattern(r"_utils/collate\.py \S+\Z")
_IN_WORK = pattern(f"{_WORKER_LOOP.pattern}|{_FETCHING.pattern}")
_DIGITS = b"0123456789"


class Log(NamedTuple):
    """What was read from a log."""

    diagnoses: list[Diagnosis]
    """First cause first."""
    nearest: list[Near]
    """Lines that look like a signature and are none; only where nothing was recognised."""
    rows: int


class _Caught(NamedTuple):
    """An exception that a worker handed to main: which it was stands at the end of its original traceback."""

    exception: str
    evidence: Evidence


@dataclass
class _Writer:
    """What is open in the output of one process."""

    traceback: Traceback = field(default_factory=Traceback)
    lost: Evidence | None = None
    """The end of a traceback of the queue's feeder thread."""
    caught: _Caught | None = None
    last: str = ""
    """The line before, if it meant nothing by itself."""


def classify(lines: Iterable[tuple[int, bytes]]) -> Log:
    """What the lines of a log, each with its row, tell of."""
    reader = _Reader()
    for row, raw in lines:
        reader.read(row, raw)
    return reader.finish()


class _Reader:
    def __init__(self) -> None:
        self.found: dict[str, Diagnosis] = {}
        self.writers: dict[str, _Writer] = {}
        self.nearest = Nearest()
        self.dull: set[bytes] = set()
        """Lines, without their digits, that mean nothing outside a traceback: logs repeat themselves."""
        self.alert = 0
        """How many more lines may belong to something open."""
        self.row = 0
        self.bare: set[str] = set()
        """Names of those that were seen without the frames that belong to them."""
        self.status: tuple[int, Evidence] | None = None
        self.kills: deque[Evidence] = deque(maxlen=_MOST_KILLS)
        """Lines that tell of a process killed for want of memory, whosever it was."""
        self.stamp = ""
        """The time on the last line that had any."""
        self.skipped: deque[bytes] = deque(maxlen=_MOST_SKIPPED)
        """The lines since then that were not looked into."""

    def read(self, row: int, raw: bytes) -> None:
        if row > self.row + 1 and self.row:
            self._close_all()
        self.row = row
        if self.alert > 0:
            self.alert -= 1
            for line in lines_of(raw):
                self._line(row, line)
            return
        shape = raw.translate(None, _DIGITS)
        if shape in self.dull:
            self.skipped.append(raw)
            return
        meant = [self._line(row, line) for line in lines_of(raw)]
        if not any(meant) and len(self.dull) < _MOST_DULL:
            self.dull.add(shape)

    def finish(self) -> Log:
        self._close_all()
        if LOST_BATCH.name in self.found:  # a log that starts in the middle of such a traceback
            for name in self.bare & {UNPICKLABLE}:
                del self.found[name]
        self._blame_memory()
        failures = list(self.found.values())
        status = self.status[0] if self.status else None
        if status == 0:  # whatever was warned of did not come
            failures = [each for each in failures if each.signature.role is not Role.NOTE]
        if status == 124 and self.status and all(each.signature.role is Role.NOTE for each in failures):
            failures.append(Diagnosis(ENDED_BY_TIMEOUT, [self.status[1]]))
        return Log(in_order(failures), [] if failures else self.nearest.best(), self.row)

    def _line(self, row: int, line: Line) -> bool:
        """Take in one line; whether it meant anything."""
        if len(self.writers) > _MOST_WRITERS:
            self._close_all()
        writer = self.writers.setdefault(line.who, _Writer())
        text = line.text
        if line.stamp:
            self.stamp = line.stamp
            self.skipped.clear()
        if self._in_traceback(writer, row, line):
            return True
        if not text.strip():
            return False
        caught = CAUGHT.search(text)
        if caught:
            if writer.caught and writer.caught.exception != caught[1]:
                self._close(writer)
            writer.caught = _Caught(caught[1], self._evidence(row, text))
            self.alert = _CAUGHT_REACH
            return True
        status = EXIT_STATUS.search(text)
        if status:
            self.status = int(status[1]), self._evidence(row, text)
        signature = self._signature(writer, text)
        if signature is not None:
            found = re.search(signature.pattern, text)
            self._report(writer, signature, self._evidence(row, text, found.start() if found else 0))
            return True
        if OOM_KILL.search(text):
            self.kills.append(self._evidence(row, text))
            return True
        return self._end_of_traceback(writer, row, text) or status is not None

    def _evidence(self, row: int, text: str, at: int = 0) -> Evidence:
        return evidence_of(row, text, at, self._now())

    def _now(self) -> Moment | None:
        """The time on the current line, or on the last one before it that has any."""
        stamps = (line.stamp for raw in reversed(self.skipped) for line in lines_of(raw) if line.stamp)
        self.stamp = next(stamps, self.stamp)
        self.skipped.clear()
        return moment(self.stamp)

    def _in_traceback(self, writer: _Writer, row: int, line: Line) -> bool:
        """Take in the head, a frame or source code of a traceback, if the line is one."""
        traceback = writer.traceback
        if not traceback.take(line.text, boxed=line.boxed):
            return False
        if traceback.started:
            self._lose(writer)
        elif writer.lost is None and traceback.frames and re.search(FEEDER, traceback.frames[-1]):
            writer.lost = self._evidence(row, line.text)
        self.alert = max(self.alert, _CAUGHT_REACH if writer.caught else _ALERT)
        return True

    def _signature(self, writer: _Writer, text: str) -> Signature | None:
        """The signature of a line, or of a line and the one before, which a terminal may have broken."""
        found = self._match(writer, text)
        if found is None and len(writer.last) >= _WRAPPED_AT:
            broken = (f"{writer.last.rstrip()}{space}{text.lstrip()}" for space in (" ", ""))
            found = next(filter(None, (self._match(writer, whole) for whole in broken)), None)
        writer.last = text if found is None else ""
        if found is None and not self.found:
            self.nearest.consider(self.row, text)
        return found

    def _match(self, writer: _Writer, text: str) -> Signature | None:
        traceback = writer.traceback.text
        for sign, signature in candidates(text):
            if not sign.search(text):
                continue
            if writer.lost and signature.failure in (Failure.START_UP, Failure.WRONG_SAMPLES):
                return LOST_BATCH
            if not signature.inside or (not traceback and not signature.strict):
                self.bare.add(signature.name)
                return signature
            if traceback and re.search(signature.inside, traceback, re.MULTILINE):
                self.bare.discard(signature.name)
                return signature
        return None

    def _end_of_traceback(self, writer: _Writer, row: int, text: str) -> bool:
        """The last line of a traceback: of a batch that could not be sent, or of what raised in a worker."""
        raised = _RAISED.match(text)
        if raised is None or not writer.traceback.text:
            return False
        if writer.lost:
            writer.lost = self._evidence(row, text)
            self._lose(writer)
            return True
        if writer.caught and writer.caught.exception == raised["name"]:
            self._raised(writer, raised["name"], self._evidence(row, text))
            return True
        if writer.caught or writer.traceback.age > 1 or not _IN_WORK.search(writer.traceback.text):
            return False
        self._raised(writer, raised["name"], self._evidence(row, text))
        return True

    def _report(self, writer: _Writer, signature: Signature, evidence: Evidence) -> None:
        lines = [evidence]
        if signature.role is Role.CAUSE:
            writer.lost = None
        if writer.caught and signature.role is Role.CAUSE:
            if writer.caught.evidence.line != evidence.line:
                lines.insert(0, writer.caught.evidence)
            writer.caught = None
        frames = list(writer.traceback.users)
        known = self.found.get(signature.name)
        if known is None:
            self.found[signature.name] = Diagnosis(signature, lines, frames)
        else:
            known.add(lines, frames)

    def _blame_memory(self) -> None:
        """Out of memory it was, where something was killed for want of it close to the end of a worker."""
        ends = [each.line for name in ENDED_WITHOUT_A_CAUSE if name in self.found for each in self.found[name].evidence]
        for kill in self.kills:
            if not any(abs(kill.line - end) <= LINES_BETWEEN for end in ends):
                continue
            known = self.found.setdefault(KILLED_FOR_MEMORY.name, Diagnosis(KILLED_FOR_MEMORY, [kill]))
            if kill not in known.evidence:
                known.add([kill], ())

    def _raised(self, writer: _Writer, exception: str, last: Evidence) -> None:
        """An exception that no signature knows, out of a worker or out of making a sample in main."""
        traceback = writer.traceback.text
        of_sample = exception in SAMPLE_ERRORS or "NoneType" in last.text
        if (of_sample and (not traceback or _FETCHING.search(traceback))) or _COLLATING.search(traceback):
            self._report(writer, SAMPLE_RAISED, last)
        elif exception not in _ENDINGS and (writer.caught or _WORKER_LOOP.search(traceback)):
            self._report(writer, WORKER_RAISED, last)

    def _lose(self, writer: _Writer) -> None:
        """A traceback of the feeder thread has ended, or the log has."""
        if writer.lost:
            self._report(writer, LOST_BATCH, writer.lost)
            writer.lost = None

    def _close(self, writer: _Writer) -> None:
        self._lose(writer)
        if writer.caught:
            self._raised(writer, writer.caught.exception, writer.caught.evidence)
        writer.caught = None

    def _close_all(self) -> None:
        for writer in self.writers.values():
            self._close(writer)
        self.writers.clear()
        self.alert = 0
