"""What every rule must be: a contract over the registry, so that a new rule cannot forget a part of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dllint.finding import Severity
from dllint.registry import listing, registry
from dllint.rule import DOC_HEADINGS, Rule
from harness import FIXTURES, ROOT, lint_texts

RULES = list(registry().values())
MODULES = sorted((ROOT / "rules").glob("dll*.py"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
FILE_NAMES = {"python": "program.py", "yaml": "deploy.yaml", "dockerfile": "Dockerfile", "sh": "run.sh"}
"""What a block of a rule's documentation is as a file, by the language that it is marked with."""


each_rule = pytest.mark.parametrize("rule", RULES, ids=[rule.code for rule in RULES])


def example(rule: Rule, heading: str) -> dict[str, str]:
    """The project in the section `heading` of the rule's documentation: each block is a file."""
    blocks = BLOCK.findall(rule.sections[heading])
    files = {FILE_NAMES[language]: text for language, text in blocks}
    assert files, f"'{heading}' needs a block of code"
    assert len(files) == len(blocks), f"'{heading}' has two blocks of one language"
    return files


def module_of(rule: Rule) -> Path:
    return ROOT / "rules" / f"{rule.code.lower()}_{rule.name.replace('-', '_')}.py"


def test_the_registry_holds_every_module_once() -> None:
    assert RULES, "no rule was found"
    assert sorted(module_of(rule) for rule in RULES) == MODULES, "a module is called by its rule's code and name"


@each_rule
def test_the_listing_tells_what_the_module_says(rule: Rule) -> None:
    """It is read from the file's name and text, without importing it."""
    assert rule.subject is not None
    entry = listing()[rule.code]
    told = entry.code, entry.name, entry.opt_in, entry.subject
    assert told == (rule.code, rule.name, rule.opt_in, rule.subject.__name__)


def test_names_are_unique() -> None:
    names = [rule.name for rule in RULES]
    assert sorted(set(names)) == sorted(names)


@each_rule
def test_code_and_name_are_well_formed(rule: Rule) -> None:
    assert re.fullmatch(r"DLL\d{3}", rule.code)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)
    assert re.fullmatch(r"\d+\.\d+", rule.since)


@each_rule
def test_headings_stand_in_order(rule: Rule) -> None:
    assert tuple(rule.sections) == DOC_HEADINGS
    assert rule.doc.startswith(f"{rule.code} {rule.name}\n")


@each_rule
def test_no_section_is_empty(rule: Rule) -> None:
    assert [heading for heading, text in rule.sections.items() if not text] == []


@each_rule
def test_references_point_somewhere(rule: Rule) -> None:
    assert re.search(r"https?://|#\d{3}|issue", rule.sections["References"]), "name the page or the issue"


@each_rule
def test_the_example_fires_this_rule_only(rule: Rule) -> None:
    assert {finding.code for finding in lint_texts(example(rule, "Example"), rule.code)} == {rule.code}


@each_rule
def test_the_repaired_example_is_silent(rule: Rule) -> None:
    assert lint_texts(example(rule, "Use instead"), rule.code) == []


@each_rule
def test_a_finding_explains_itself(rule: Rule) -> None:
    for finding in lint_texts(example(rule, "Example"), rule.code):
        assert finding.message and "\n" not in finding.message
        assert finding.help and "\n" not in finding.help, "a finding says how to mend it"
        assert all(item.message for item in finding.related)
        assert finding.name == rule.name
        assert finding.failure is rule.failure
        assert finding.severity <= rule.severity, "a rule may lower the severity of one finding, not raise it"
        assert finding.location.row >= 1 and finding.location.column >= 1


@each_rule
def test_mere_advice_is_off_by_default(rule: Rule) -> None:
    assert rule.opt_in or rule.severity > Severity.INFO


@each_rule
def test_every_rule_has_fixtures_of_both_kinds(rule: Rule) -> None:
    folder = FIXTURES / rule.code
    assert len(list(folder.glob("bad_*"))) >= 2
    assert len(list(folder.glob("good_*"))) >= 2


def test_replaced_by_names_rules_or_codes_to_come() -> None:
    for rule in RULES:
        assert rule.code not in rule.replaced_by
        assert all(re.fullmatch(r"DLL\d{3}", code) for code in rule.replaced_by)


def test_fixture_folders_belong_to_rules() -> None:
    codes = {rule.code for rule in RULES}
    assert {folder.name for folder in FIXTURES.glob("DLL*")} <= codes
