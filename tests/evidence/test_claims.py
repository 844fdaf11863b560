"""What the rules claim and what the programs are about is one thing. None of this needs torch."""

from __future__ import annotations

import re

import pytest

from dllint import basis
from dllint.basis import Grade
from dllint.finding import Failure
from dllint.output.catalogue import as_dict, render_rule
from dllint.registry import registry
from dllint.rule import Rule
from harness import ROOT, lint_texts
from program import PROGRAMS, Program, programs

RULES = list(registry().values())
ALL = programs()

each_rule = pytest.mark.parametrize("rule", RULES, ids=[rule.code for rule in RULES])
each_program = pytest.mark.parametrize("program", ALL, ids=[f"{p.code}-{p.path.stem}" for p in ALL])


@each_rule
def test_every_rule_says_how_its_failure_is_known(rule: Rule) -> None:
    assert (rule.basis is None) == (rule.failure is Failure.TOOL)


@each_rule
def test_what_a_rule_calls_proven_its_programs_show(rule: Rule) -> None:
    own = [program for program in ALL if program.code == rule.code]
    bad = [program for program in own if program.is_bad]
    if rule.basis is None or rule.basis.grade is not Grade.PROVEN:
        assert own == []
        return
    assert bad, "a bad program"
    assert len(bad) < len(own), "and a good one"
    assert set(rule.basis.start_methods) == set().union(*(program.failing_methods for program in bad))
    assert ("simulated" in rule.basis.text) == any("simulates" in program.needs for program in bad)


@each_rule
def test_reported_issues_are_among_the_references(rule: Rule) -> None:
    if rule.basis is None or rule.basis.grade is not Grade.REPORTED:
        return
    issues = re.findall(r"([\w./-]+)#(\d+)", rule.basis.text)
    assert issues
    for repository, number in issues:
        assert re.search(rf"{repository}/(issues|pull)/{number}\b", rule.sections["References"])


@each_rule
def test_the_page_of_a_rule_says_so(rule: Rule) -> None:
    lines = render_rule(rule, "markdown").splitlines()
    wanted = [f"Evidence: {rule.basis.text}"] if rule.basis else []
    assert [line for line in lines if line.startswith("Evidence")] == wanted
    assert as_dict(rule)["evidence"] == (rule.basis.text if rule.basis else None)


def test_the_folders_belong_to_rules() -> None:
    assert {folder.name for folder in PROGRAMS.glob("DLL*")} <= set(registry())


def test_the_torch_of_the_claims_is_the_one_that_is_installed() -> None:
    assert f'"torch=={basis.TORCH}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


@each_program
def test_every_program_fails_or_is_the_repaired_twin(program: Program) -> None:
    kinds = {outcome.kind for outcome in program.outcomes.values()}
    assert kinds, "a program says what comes of it"
    assert not program.is_bad or kinds != {"runs"}


@each_program
def test_dllint_reports_the_bad_ones_only(program: Program) -> None:
    codes = {finding.code for finding in lint_texts(program.files, program.code)}
    assert (program.code in codes) == program.is_bad
