"""The rules themselves, from their docstrings: `dllint rule` and `dllint rules`, as text, JSON or Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from dllint.rule import Rule

FORMATS = ("text", "json", "markdown")


def render_list(rules: Sequence[Rule], output_format: str) -> str:
    """All rules in one of FORMATS; in Markdown with a section for each, which makes `rules/README.md`."""
    if output_format == "json":
        return _json([as_dict(rule) for rule in rules])
    if output_format == "markdown":
        return _markdown_list(rules)
    width = max((len(rule.name) for rule in rules), default=0)
    return "".join(f"{rule.code}  {rule.severity.label:<7}  {rule.name:<{width}}  {_remark(rule)}\n" for rule in rules)


def render_rule(rule: Rule, output_format: str) -> str:
    """The documentation of one rule in one of FORMATS."""
    if output_format == "json":
        return _json({**as_dict(rule), "sections": rule.sections})
    if output_format == "markdown":
        return _markdown(rule, level=1)
    sections = "".join(f"\n{heading}\n{textwrap.indent(text, '  ')}\n" for heading, text in rule.sections.items())
    return f"{rule.code} {rule.name}\n{_facts(rule)}\n{_evidence(rule)}{sections}"


def as_dict(rule: Rule) -> dict[str, Any]:
    """One rule as plain values."""
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity.label,
        "failure": rule.failure.label,
        "opt_in": rule.opt_in,
        "since": rule.since,
        "evidence": rule.basis.text if rule.basis else None,
        "summary": summary(rule),
        "url": rule.url,
    }


def summary(rule: Rule) -> str:
    """The first sentence of what the rule does, on one line."""
    text = " ".join(rule.sections.get("What it does", "").split("\n\n")[0].split())
    sentence, dot, _ = text.partition(". ")
    return sentence.rstrip(".:") + "." if dot or sentence else ""


def _remark(rule: Rule) -> str:
    return summary(rule) + (" (opt-in)" if rule.opt_in else "")


def _facts(rule: Rule) -> str:
    switch = "off by default (opt-in)" if rule.opt_in else "on by default"
    failure = "" if rule.failure.value == "T" else f"failure: {rule.failure.label}; "
    return f"{rule.severity.label}; {failure}{switch}; since {rule.since}"


def _evidence(rule: Rule) -> str:
    return f"Evidence: {rule.basis.text}\n" if rule.basis else ""


def _json(value: object) -> str:
    import json

    return json.dumps(value, indent=2) + "\n"


def _markdown_list(rules: Iterable[Rule]) -> str:
    rules = list(rules)
    lines = [
        "# The rules of dllint",
        "",
        "<!-- Made by `dllint rules --output-format markdown`; the text comes from the rule modules. -->",
        "",
        "| Code | Name | Severity | Failure | Default | Evidence | What it reports |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [_row(rule) for rule in rules]
    return "\n".join(lines) + "\n" + "".join("\n" + _markdown(rule, level=2) for rule in rules)


def _row(rule: Rule) -> str:
    anchor = rule.url.partition("#")[2]
    cells = (
        f"[{rule.code}](#{anchor})",
        rule.name,
        rule.severity.label,
        rule.failure.label,
        "off" if rule.opt_in else "on",
        rule.basis.grade.value if rule.basis else "",
        summary(rule).replace("|", "\\|"),
    )
    return f"| {' | '.join(cells)} |"


def _markdown(rule: Rule, level: int) -> str:
    marks = "#" * level
    evidence = f"\n{_evidence(rule)}" if rule.basis else ""
    head = f"{marks} {rule.code} {rule.name}\n\n*{_facts(rule)}*\n{evidence}"
    return head + "".join(f"\n{marks}# {heading}\n\n{text}\n" for heading, text in rule.sections.items())
