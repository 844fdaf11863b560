"""The report: Markdown, with a short part between two marks that README.md shows as well."""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmark.measuring import Candidate
from benchmark.tools import ROOT

RESULTS = Path(__file__).with_name("RESULTS.md")
README = ROOT / "README.md"
BEGIN, END = "<!-- benchmark: written by python tests/benchmark --write -->", "<!-- end of benchmark -->"
_SHORT = re.compile(re.escape(BEGIN) + r"\n(.*?)" + re.escape(END), re.DOTALL)


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column is text and all others numbers."""
    marks = ["---", *("---:" for _ in head[1:])]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, marks, *rows))


def comparison(title: str, candidates: Sequence[Candidate]) -> str:
    """One row for each tool. The first one is dllint, which the others are compared with."""
    own = candidates[0].median
    rows = []
    for candidate in candidates:
        median = candidate.median
        ratios = [] if candidate is candidates[0] else [times(median.wall / own.wall), times(median.cpu / own.cpu)]
        numbers = [seconds(median.wall), seconds(median.cpu), *(ratios or ["", ""])]
        rows.append([candidate.name, *numbers, f"{median.peak:.0f}", str(len(candidate.costs))])
    return markdown([title, "s", "CPU s", "times dllint", "CPU", "MB", "runs"], rows)


def seconds(number: float) -> str:
    return f"{number:.3f}" if number < 1 else f"{number:.2f}" if number < 10 else f"{number:.0f}"


def times(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def machine() -> str:
    """When and where this was measured, and whether the machine had other work to do."""
    day = time.strftime("%Y-%m-%d", time.gmtime())
    system = f"{platform.system()} {platform.release().partition('-')[0]}"
    processors = os.cpu_count() or 1
    told = f"{day}, {processors} processors ({_processor()}), {system}, CPython {platform.python_version()}"
    load = os.getloadavg()[2] if hasattr(os, "getloadavg") else 0.0
    # What is measured runs alone and uses no more than the processors there are.
    return f"{told}, busy with other work (load {load:.0f})" if load > 1.5 * processors else told


def _processor() -> str:
    try:
        found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found[1].strip() if found else platform.machine()


def short_part(text: str) -> str:
    """What stands between the marks."""
    found = _SHORT.search(text)
    return found[1] if found else ""


def with_short_part(text: str, short: str) -> str:
    """The text with another short part."""
    return _SHORT.sub(lambda _: f"{BEGIN}\n{short}{END}", text)


def write(short: str, sections: Iterable[str]) -> None:
    """Write the results, and the short part of them to README.md, too."""
    text = "\n\n".join(["# What dllint costs", f"{BEGIN}\n{short}{END}", *sections]) + "\n"
    RESULTS.write_text(text, encoding="utf-8")
    README.write_text(with_short_part(README.read_text(encoding="utf-8"), short), encoding="utf-8")
