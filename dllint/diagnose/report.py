"""How a diagnosis is printed: for a person, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from dllint.diagnose.advice import Advice, advice_on
from dllint.diagnose.classification import Log
from dllint.diagnose.diagnosis import Diagnosis
from dllint.diagnose.nearest import Near
from dllint.diagnose.signature import Role
from dllint.diagnose.suspects import ranked
from dllint.diagnose.tracebacks import Frame
from dllint.finding import Finding
from dllint.output import printable
from dllint.output.json_ import as_dict
from dllint.output.text import headline, place

_MOST_FINDINGS = 10


class Answer(NamedTuple):
    """All that is said of one failure."""

    diagnosis: Diagnosis
    advice: Advice
    findings: list[Finding]
    """Those of the project that explain it, the likeliest first."""


def answers(log: Log, findings: Sequence[Finding]) -> list[Answer]:
    """Advice and findings for each failure of a log, in its order."""
    found = []
    for diagnosis in log.diagnoses:
        advice = advice_on(diagnosis.signature)
        found.append(Answer(diagnosis, advice, ranked(findings, advice.rules, _frames(diagnosis, log))))
    return found


def _frames(diagnosis: Diagnosis, log: Log) -> Sequence[Frame]:
    """Where the failure passed; of one without a traceback through the project, where its class or a symptom did."""
    others = (
        each.frames
        for each in log.diagnoses
        if each.signature.failure is diagnosis.signature.failure or each.signature.role is Role.SYMPTOM
    )
    return diagnosis.frames or next(filter(None, others), ())


def as_json(found: Sequence[Answer]) -> str:
    """A list of failures, first cause first."""
    return json.dumps([_as_dict(answer, number) for number, answer in enumerate(found)], indent=2) + "\n"


def _as_dict(answer: Answer, number: int) -> dict[str, Any]:
    signature = answer.diagnosis.signature
    return {
        "class": signature.failure.value,
        "name": signature.name,
        "follower": number > 0,
        "evidence": [{"line": each.line, "text": each.text} for each in answer.diagnosis.evidence],
        "times": answer.diagnosis.times,
        "meaning": signature.meaning,
        "torch": signature.torch,
        "checks": list(answer.advice.checks),
        "fix": answer.advice.fix,
        "rules": list(answer.advice.rules),
        "findings": [as_dict(finding) for finding in answer.findings],
    }


def as_text(name: str, found: Sequence[Answer], project: str | None) -> Iterator[str]:
    """The first failure in full, then what followed; `project` is the folder that was linted, if one was."""
    first, *rest = found
    signature = first.diagnosis.signature
    yield f"{_title(first)}"
    yield from _evidence(name, first.diagnosis)
    yield f"  means: {signature.meaning} (torch: {signature.torch})"
    yield "  check:"
    yield from (f"    {check}" for check in first.advice.checks)
    yield f"  fix: {first.advice.fix}"
    yield from _findings(first, project)
    for answer in rest:
        yield f"followed by {_title(answer)}"
        yield from _evidence(name, answer.diagnosis)


def nothing_recognised(name: str, near: Sequence[Near]) -> Iterator[str]:
    """What is said of a log without a known failure."""
    yield f"{printable(name)}: nothing recognised"
    if near:
        yield "nearest, but none of them:"
    for line in near:
        yield f"  {printable(name)}:{line.line}: {printable(line.text)}  (like: {line.name})"


def _title(answer: Answer) -> str:
    signature = answer.diagnosis.signature
    times = f", {answer.diagnosis.times} times" if answer.diagnosis.times > 1 else ""
    return f"{signature.failure.value} ({signature.failure.label}): {signature.name}{times}"


def _evidence(name: str, diagnosis: Diagnosis) -> Iterator[str]:
    for each in diagnosis.evidence:
        yield f"  {printable(name)}:{each.line}: {printable(each.text)}"


def _findings(answer: Answer, project: str | None) -> Iterator[str]:
    if project is None:
        return
    where = "this project" if project == "." else printable(project)
    if not answer.findings:
        yield f"  in {where}: no rule reports a cause ({', '.join(answer.advice.rules)})"
        return
    yield f"  in {where}, the likeliest first:"
    for finding in answer.findings[:_MOST_FINDINGS]:
        yield f"    {headline(finding)}"
        yield from (f"      {place(item.location)}: {printable(item.message)}" for item in finding.related)
        if finding.help:
            yield f"      help: {printable(finding.help)}"
    more = len(answer.findings) - _MOST_FINDINGS
    if more > 0:
        yield f"    and {more} more: dllint --select {','.join(dict.fromkeys(each.code for each in answer.findings))}"
