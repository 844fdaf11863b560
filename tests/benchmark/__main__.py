"""Measure dllint beside other linters on packages of the index, and write the tables that README.md quotes.

    python tests/benchmark [--write] [--rounds 5] [--slow-rounds 1] [--only ruff,flake8] [--sections memory,growth]

dllint is built from this tree and installed like a user's; so are the others, each in an environment of its own under
the cache (`--environments` names another folder), where the next run finds them. All are whole processes without a
cache of results. torchfix, flake8 and others take minutes: they run once (`--slow-rounds`, 0: not at all) on a part of
the files (`--everywhere`: on all). Numbers of a machine that does other work meanwhile are of no use but for the CPU
seconds.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmark import sections, table, tools
from benchmark.sections import Bench
from ecosystem import cache

LARGE = ("diffusers", "monai", "nemo-toolkit")
PART = ("monai",)
"""For tools that take minutes on the large ones."""
SMALL = ("torchio", "webdataset")
"""For one that takes minutes on those, too."""

SECTIONS: dict[str, Callable[[Bench], str]] = {
    "repositories": partial(sections.repositories, names=LARGE, others=[tools.RUFF]),
    "slow": partial(sections.repositories, names=PART, others=[tools.RUFF, *tools.SLOW]),
    "pylint": partial(sections.repositories, names=SMALL, others=[tools.PYLINT]),
    "one-file": sections.one_file,
    "start": sections.start,
    "growth": partial(sections.growth, package="monai"),
    "memory": partial(sections.memory, names=LARGE),
    "containers": sections.containers,
}
EVERYWHERE = partial(sections.repositories, names=LARGE, others=[tools.RUFF, *tools.SLOW])
QUOTED = ("repositories", "slow", "one-file")
"""What README.md shows."""


def words(text: str) -> list[str]:
    return text.split(",")


def arguments(given: Sequence[str]) -> argparse.Namespace:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="tests/benchmark", description=__doc__, formatter_class=form)
    parser.add_argument("--write", action="store_true", help=f"write {table.RESULTS.name} and the table in README.md")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--slow-rounds", type=int, default=1)
    parser.add_argument("--everywhere", action="store_true", help="slow tools run on all files")
    parser.add_argument("--only", type=words, default=[], help="tools to compare with, by name")
    parser.add_argument("--sections", type=words, default=list(SECTIONS), help=", ".join(SECTIONS))
    parser.add_argument("--cache", type=Path, default=cache.default_folder())
    parser.add_argument("--environments", type=Path, help="default: tools in the cache")
    options = parser.parse_args(given)
    unknown = {*options.sections} - {*SECTIONS} | {*options.only} - {tool.name for tool in tools.ALL}
    if unknown:
        parser.error(f"neither a section nor a tool: {', '.join(sorted(unknown))}")
    if options.write and {*options.sections} != {*SECTIONS}:
        parser.error("--write takes all sections")
    return options


def bench(options: argparse.Namespace) -> Bench:
    """dllint, installed, and the options."""
    environments = (options.environments or options.cache / "tools").resolve()
    own = tools.install_own(environments)
    told = subprocess.run([own.program, "--version"], capture_output=True, text=True, check=True).stdout
    rounds = options.rounds, options.slow_rounds
    return Bench(own, told.split()[-1], options.cache.resolve(), environments, *rounds, frozenset(options.only))


def run(options: argparse.Namespace) -> None:
    shared = bench(options)
    told = {}
    for name in options.sections:
        measure = EVERYWHERE if name == "slow" and options.everywhere else SECTIONS[name]
        told[name] = measure(shared)
        print(f"\n{told[name]}", flush=True)
    if options.write:
        note = f"Medians of whole processes, *times dllint* as many seconds; {table.machine()}."
        short = "\n\n".join([*(told[name] for name in QUOTED), note]) + "\n"
        table.write(short, [text for name, text in told.items() if name not in QUOTED])


if __name__ == "__main__":
    try:
        run(arguments(sys.argv[1:]))
    except cache.CacheError as error:
        sys.exit(f"tests/benchmark: {error}")
