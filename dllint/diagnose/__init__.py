"""`dllint diagnose`: which failure of data loading a log tells of, and the lines of the project that explain it.

`reading` finds the lines that can matter, `cleaning` cleans them, `classification` holds them against `signatures`;
`advice` says what to do, `suspects` ranks what the rules find in the project, `report` prints it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import BinaryIO

from dllint.diagnose import report
from dllint.diagnose.advice import advice_on
from dllint.diagnose.classification import Log, classify
from dllint.diagnose.reading import lines
from dllint.diagnose.suspects import look_for
from dllint.files import PathError, problem_with
from dllint.finding import Finding
from dllint.linter import summaries

__all__ = ("classify", "lines", "run")

CLASSIFIED, NOTHING_RECOGNISED = 0, 1


def run(words: Sequence[str]) -> int:
    """Run the command line behind `dllint diagnose`. Raises PathError and SettingsError."""
    arguments = _parser().parse_args(words)
    if arguments.project is not None and (problem := problem_with(arguments.project)):
        raise PathError(problem)
    log = _read(arguments.log)
    project = arguments.project or os.curdir
    findings = _findings(log, project)
    found = report.answers(log, findings)
    if arguments.output_format == "json":
        sys.stdout.write(report.as_json(found))
    elif found:
        looked = arguments.project or (project if findings else None)
        sys.stdout.writelines(f"{line}\n" for line in report.as_text(_name(arguments.log), found, looked))
    else:
        sys.stdout.writelines(f"{line}\n" for line in report.nothing_recognised(_name(arguments.log), log.nearest))
    return CLASSIFIED if found else NOTHING_RECOGNISED


def _read(path: str) -> Log:
    if path == "-":
        if sys.stdin is None:
            raise PathError("-: standard input is closed")
        return _classified(sys.stdin.buffer)
    try:
        with open(path, "rb") as stream:
            return _classified(stream)
    except OSError as error:
        raise PathError(f"{path}: {error.strerror or error}") from None


def _classified(stream: BinaryIO) -> Log:
    return classify(lines(stream))


def _findings(log: Log, project: str) -> list[Finding]:
    """What the rules that can cause one of the failures find in the project."""
    codes = dict.fromkeys(code for each in log.diagnoses for code in advice_on(each.signature).rules)
    if not codes:
        return []
    linted = look_for(project, codes)
    sys.stderr.writelines(f"error: {told}\n" for _, told in summaries(linted.errors))
    return linted.findings


def _name(path: str) -> str:
    return "<stdin>" if path == "-" else path


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dllint diagnose",
        description="Say which failure of data loading a log or traceback tells of, and which lines explain it.",
        epilog="Exit status: 0 classified, 1 nothing recognised, 2 bad usage.",
        allow_abbrev=False,
    )
    parser.add_argument("log", nargs="?", default="-", metavar="LOG", help="a file; - or nothing reads stdin")
    parser.add_argument("--project", metavar="PATH", help="the project that failed (default: the current folder)")
    parser.add_argument("--output-format", choices=("text", "json"), default="text")
    return parser
