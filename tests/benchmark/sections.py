"""What is measured: one function for each question, with a table as its answer."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmark import corpus, tools
from benchmark.measuring import Candidate, import_times, peak_together, take_turns
from benchmark.table import comparison, markdown, seconds
from benchmark.tools import Installed, Tool

BARE = "import ast, json, re, argparse"
GROWTH = (1, 2, 4, 8)


@dataclass(frozen=True)
class Bench:
    """What all questions share: the options, and dllint as it is installed."""

    own: Installed
    version: str
    cache: Path
    environments: Path
    rounds: int
    slow_rounds: int
    only: frozenset[str]

    def candidates(self, others: Iterable[Tool], paths: Sequence[Path]) -> list[Candidate]:
        """dllint and those of the others that are wanted and can be installed, over these paths."""
        found = [Candidate(f"dllint {self.version}", self.own.command(paths), self.rounds)]
        for tool in others:
            rounds = self.slow_rounds if tool.slow else self.rounds
            if rounds and (not self.only or tool.name in self.only):
                installed = tools.install(tool, self.environments)
                if installed is not None:
                    command = installed.command(paths)
                    found.append(Candidate(f"{tool.name} {tool.version}", command, rounds, tool.statuses))
        return found


def repositories(bench: Bench, names: Sequence[str], others: Iterable[Tool]) -> str:
    """dllint beside other linters on whole packages, each in one run over all of them."""
    folders = list(corpus.packages(names, bench.cache).values())
    number, megabytes = corpus.size(folders)
    candidates = bench.candidates(others, folders)
    take_turns(candidates)
    return comparison(f"{', '.join(names)}: {number} files, {megabytes:.0f} MB", candidates)


def one_file(bench: Bench) -> str:
    """One file of a project, as a hook or an editor asks for it, beside an interpreter that imports four modules."""
    with tempfile.TemporaryDirectory(prefix="dllint-") as name:
        target = corpus.generate(Path(name))
        # As an editor does: in the project, with its settings.
        own = Candidate("dllint FILE", [str(bench.own.program), "check", "--exit-zero", str(target)], bench.rounds)
        bare = Candidate(f'python -c "{BARE}"', [_python(bench), "-c", BARE], bench.rounds)
        own.cwd = bare.cwd = Path(name)
        take_turns([own, bare])
    return comparison("one file of 200 lines in a project of 300", [own, bare])


def start(bench: Bench) -> str:
    """What it takes until dllint begins to work, and which of its modules take longest to import."""
    commands = {"python -c pass": [_python(bench), "-c", "pass"], f'python -c "{BARE}"': [_python(bench), "-c", BARE]}
    own = Candidate("dllint --version", [str(bench.own.program), "--version"], bench.rounds)
    others = [Candidate(name, command, bench.rounds) for name, command in commands.items()]
    take_turns([own, *others])
    imported = import_times(Path(_python(bench)), "dllint.cli")
    slowest = sorted(imported.items(), key=lambda item: -item[1])[:6]
    rows = [[name, f"{milliseconds:.1f}"] for name, milliseconds in slowest]
    return comparison("start", [own, *others]) + "\n\n" + markdown(["import dllint.cli", "ms"], rows)


def growth(bench: Bench, package: str) -> str:
    """The cost of one project that holds 1, 2, 4 and 8 copies of a package."""
    (folder,) = corpus.packages([package], bench.cache).values()
    candidates, sizes = [], []
    with tempfile.TemporaryDirectory(prefix="dllint-") as name:
        for times in GROWTH:
            project = corpus.multiply(folder / package, times, Path(name, str(times)))
            sizes.append(corpus.size([project]))
            candidates.append(Candidate(f"{times}", bench.own.command([project]), bench.rounds))
        take_turns(candidates)
    rows = []
    for candidate, (files, megabytes) in zip(candidates, sizes, strict=True):
        cost = candidate.median
        rows.append([candidate.name, str(files), seconds(cost.wall), seconds(cost.cpu), f"{cost.cpu / megabytes:.3f}"])
    return markdown([f"copies of {package}", "files", "s", "CPU s", "CPU s for each MB"], rows)


def memory(bench: Bench, names: Sequence[str]) -> str:
    """The most memory that a whole run holds."""
    folders = list(corpus.packages(names, bench.cache).values())
    peak = peak_together(bench.own.command(folders))
    return markdown(["memory", "MB"], [[f"dllint and its processes together on {', '.join(names)}", f"{peak:.0f}"]])


def containers(bench: Bench) -> str:
    """dllint beside hadolint on Dockerfiles, and beside checkov on manifests."""
    parts = []
    with tempfile.TemporaryDirectory(prefix="dllint-") as name:
        files = corpus.dockerfiles(Path(name, "docker"))
        parts.append(_beside(bench, tools.HADOLINT, f"{len(files)} Dockerfiles", files))
        files = corpus.manifests(Path(name, "manifests"))
        parts.append(_beside(bench, tools.CHECKOV, f"{len(files)} manifests", [Path(name, "manifests")]))
    return "\n\n".join(parts)


def _beside(bench: Bench, tool: Tool, title: str, paths: Sequence[Path]) -> str:
    candidates = bench.candidates([tool], paths)
    take_turns(candidates)
    return comparison(title, candidates)


def _python(bench: Bench) -> str:
    """The interpreter that dllint is installed for."""
    return str(bench.own.program.with_name("python.exe" if sys.platform == "win32" else "python"))
