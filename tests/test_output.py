"""What is printed: golden files for each format, and nothing that a terminal would obey.

To renew the golden files after a wanted change: `DLLINT_GOLDEN=1 pytest tests/test_output.py`, then read the diff.
"""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dllint.finding import Edit, Failure, Finding, Fix, Location, Related, Severity
from dllint.linter import Program, Report
from dllint.output import FORMATS, Style, printable, summary, write

GOLDEN = Path(__file__).parent / "golden"
ESCAPED = (r"evil\x1b[31m\n.py", r"evil\u001b[31m\n.py", "evil%1B%5B31m%0A.py")
"""The name of a file as text, as JSON and as a URI."""


class OneFile:
    """A program that knows one text for all paths."""

    data = b""
    size = 0
    lines = ["import h5py", "", "class Slides:", "\tdef __init__(self, p):", "\t\tself.f = h5py.File(p)  # \x1b[2J"]

    def prepare(self) -> None:
        pass

    def subjects(self, kind: str) -> list[object]:
        return []

    def source(self, path: str) -> OneFile:
        return self


def report() -> Report:
    opened = Location("data.py", 5, 12, 5, 24)
    started = Related("4 workers started here", Location("train.py", 40, 1, 40, 20))
    named = Location("evil\x1b[31m\n.py", 1, 1, 1, 7)
    fix = Fix("Open it in __getitem__", (Edit(opened, "None"),), safe=False)
    findings = [
        Finding(
            "DLL201", "handle-in-init", "Shared by all workers", Severity.ERROR, Failure.WRONG_SAMPLES, opened,
            help="open the file in `__getitem__`", related=(started,), symbol="data.Slides", evidence="self.f", fix=fix,
        ),
        Finding("DLL501", "missing-main-guard", "No guard", Severity.WARNING, Failure.START_UP, named),
        Finding("DLL201", "handle-in-init", "Over lines", Severity.ERROR, Failure.STALL, Location("z.py", 3, 1, 5, 3)),
    ]  # fmt: skip
    programs: dict[str, Program] = {finding.location.path: OneFile() for finding in findings}
    return Report(findings=findings, file_count=41, programs=programs)


def printed(output_format: str, style: Style, given: Report | None = None) -> str:
    stream = io.StringIO()
    write(given or report(), stream, output_format, style)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "output_format", "style"),
    [
        ("plain.txt", "text", Style()),
        ("verbose.txt", "text", Style(verbose=True)),
        ("terminal.txt", "text", Style(terminal=True)),
        ("color.txt", "text", Style(terminal=True, color=True)),
        ("quiet.txt", "text", Style(terminal=True, color=True, quiet=True)),
        ("statistics.txt", "text", Style(statistics=True)),
        ("findings.json", "json", Style()),
        ("statistics.json", "json", Style(statistics=True)),
        ("concise.txt", "concise", Style()),
        ("grouped.txt", "grouped", Style()),
        ("github.txt", "github", Style()),
        ("gitlab.json", "gitlab", Style()),
        ("junit.xml", "junit", Style()),
        ("checkstyle.xml", "checkstyle", Style()),
        ("rdjson.json", "rdjson", Style()),
    ],
)
def test_output_is_as_agreed(name: str, output_format: str, style: Style) -> None:
    golden = GOLDEN / name
    text = printed(output_format, style)
    if os.environ.get("DLLINT_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("output_format", FORMATS)
@pytest.mark.parametrize("style", [Style(), Style(verbose=True), Style(terminal=True), Style(statistics=True)])
def test_nothing_that_a_terminal_obeys_is_printed(output_format: str, style: Style) -> None:
    text = printed(output_format, style)
    assert "\x1b" not in text
    assert "evil" not in text or any(name in text for name in ESCAPED)


def test_json_has_the_agreed_keys_and_gives_names_back_as_they_are() -> None:
    first, second, _ = json.loads(printed("json", Style()))
    assert list(first)[:12] == [
        "code", "name", "message", "severity", "failure", "filename", "location", "end_location",
        "url", "help", "fix", "related",
    ]  # fmt: skip
    assert first["location"] == {"row": 5, "column": 12}
    assert set(first["related"][0]) == {"message", "filename", "location", "end_location"}
    assert second["filename"] == "evil\x1b[31m\n.py"


def test_a_name_that_is_no_unicode_comes_out_in_all_formats() -> None:
    name = b"caf\xe9.py".decode("utf-8", "surrogateescape")
    finding = Finding("DLL001", "x", "m", Severity.ERROR, Failure.TOOL, Location(name, 1, 1, 1, 2))
    given = Report(findings=[finding])
    assert printed("text", Style(), given) == "caf\\xe9.py:1:1: DLL001 m\n"
    assert json.loads(printed("json", Style(), given))[0]["filename"] == name


def test_nothing_found_prints_nothing_on_a_pipe_and_an_empty_list_in_json() -> None:
    assert printed("text", Style(), Report()) == ""
    assert json.loads(printed("json", Style(), Report())) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain ä 漢字", "plain ä 漢字"),
        ("a\nb\tc\r", r"a\nb\tc\r"),
        ("\x1b]0;x\x07", r"\x1b]0;x\x07"),
        ("\x9b31m", r"\x9b31m"),
        ("a\u202eb\u2028", r"a\u202eb\u2028"),
        ("\udcff", r"\xff"),
    ],
)
def test_unprintable_characters_become_escapes(text: str, expected: str) -> None:
    assert printable(text) == expected


def test_the_summary_counts() -> None:
    given = report()
    told = "1 fixable with --fix --unsafe-fixes."
    assert summary(given) == f"Found 2 errors, 1 warning in 41 files. {told}"
    given.suppressed = given.findings[:1]
    given.fixed = 2
    assert summary(given) == f"Fixed 2 findings. Found 2 errors, 1 warning in 41 files (1 suppressed). {told}"
    assert summary(Report(file_count=1)) == "No findings in 1 file."


def test_a_huge_source_line_is_cut() -> None:
    given = report()
    program = OneFile()
    program.lines = ["x" * 1_000_000] * 5
    given.programs = dict.fromkeys(given.programs, program)
    assert len(printed("text", Style(terminal=True), given)) < 3_000


def test_sarif_tells_the_way_as_a_code_flow() -> None:
    run = json.loads(printed("sarif", Style()))["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["DLL201", "DLL501"]
    first, named, _ = run["results"]
    assert first["ruleId"] == "DLL201"
    assert first["relatedLocations"][0]["message"]["text"] == "4 workers started here"
    steps = first["codeFlows"][0]["threadFlows"][0]["locations"]
    places = [step["location"]["physicalLocation"] for step in steps]
    assert [place["artifactLocation"]["uri"] for place in places] == ["train.py", "data.py"]
    assert first["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"]["text"] == "None"
    assert first["partialFingerprints"]["dllint/v1"] == report().findings[0].identity
    assert named["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "evil%1B%5B31m%0A.py"


def test_sarif_marks_what_is_suppressed_and_what_a_baseline_knows() -> None:
    given = report()
    given.suppressed, given.baselined, given.findings = given.findings[:1], given.findings[1:2], given.findings[2:]
    results = json.loads(printed("sarif", Style(), given))["runs"][0]["results"]
    assert [result.get("suppressions") for result in results] == [None, [{"kind": "inSource"}], [{"kind": "external"}]]


def hostile() -> Report:
    """A finding whose texts try to break out of each format."""
    text = "100% ::error::x ]]> <b a='1'> & \" \n::warning::y\r\x1b[0m"
    place = Location("a,b:c%\n::error::.py", 1, 1, 1, 2)
    return Report(findings=[Finding("DLL501", "missing-main-guard", text, Severity.ERROR, Failure.START_UP, place)])


def test_no_text_begins_a_workflow_command_of_its_own() -> None:
    lines = printed("github", Style(), hostile()).splitlines()
    assert len(lines) == 1
    properties, _, data = lines[0].removeprefix("::error ").partition("::")
    assert "file=a%2Cb%3Ac%25\\n%3A%3Aerror%3A%3A.py" in properties
    assert data.startswith("a,b:c%25")


@pytest.mark.parametrize("output_format", ["junit", "checkstyle"])
def test_xml_stays_well_formed(output_format: str) -> None:
    root = ElementTree.fromstring(printed(output_format, Style(), hostile()))
    assert any("100% ::error::x ]]> <b a='1'>" in value for node in root.iter() for value in node.attrib.values())


def test_gitlab_gets_fingerprints_that_differ() -> None:
    given = report()
    given.findings = [given.findings[0]] * 3
    issues = json.loads(printed("gitlab", Style(), given))
    assert len({issue["fingerprint"] for issue in issues}) == 3
