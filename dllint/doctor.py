"""`dllint doctor`: what this machine gives, against what the loaders of a project need.

Nothing of the project is imported or run, and torch need not be installed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any, NamedTuple

from dllint.deploy.demand import Demand
from dllint.deploy.loader_runs import LoaderRun
from dllint.deploy.sizes import shown
from dllint.files import PathError, discover, problem_with
from dllint.machine import Machine, look
from dllint.options import byte_size
from dllint.output import printable
from dllint.settings import Settings, load
from dllint.whole import WholeProject

FITS, DOES_NOT_FIT, CANNOT_TELL = 0, 1, 2
_FEWEST_FILES = 1024
"""Open files: fewer are used up by a few batches of many tensors."""
_BAR = 24


class Verdict(Enum):
    """How a budget stands against a need."""

    FITS = "fits"
    OVER = "does not fit"
    UNKNOWN = "cannot tell"


class Budget(NamedTuple):
    """One thing that the machine gives and the project needs."""

    name: str
    verdict: Verdict
    text: str
    """The need and what there is, in one sentence."""
    need: int | None = None
    have: int | None = None
    help: str = ""


class Diagnosis(NamedTuple):
    """All that doctor says."""

    machine: Machine
    budgets: list[Budget]
    notes: list[str]

    @property
    def status(self) -> int:
        """The exit status: 1 if something does not fit, 2 if nothing that matters could be told, else 0."""
        if any(budget.verdict is Verdict.OVER for budget in self.budgets):
            return DOES_NOT_FIT
        shm = next(budget for budget in self.budgets if budget.name == "shared memory")
        return FITS if shm.verdict is Verdict.FITS else CANNOT_TELL


def run(words: Sequence[str]) -> int:
    """Run the command line behind `dllint doctor`. Raises PathError and SettingsError."""
    arguments = _parser().parse_args(words)
    problem = problem_with(arguments.path)
    if problem:
        raise PathError(problem)
    settings = load(arguments.path, config=arguments.config, isolated=arguments.isolated)
    loaders = list(_loaders(arguments.path, settings))
    found = examine(look(), loaders, arguments.batch_bytes or settings.batch_bytes)
    if arguments.output_format == "json":
        sys.stdout.write(json.dumps(_as_dict(found), indent=2) + "\n")
    else:
        sys.stdout.writelines(f"{printable(line)}\n" for line in _lines(found, bars=sys.stdout.isatty()))
    return found.status


def _loaders(path: str, settings: Settings) -> Iterator[LoaderRun]:
    for project in discover([path], settings):
        targets = {file.path for file in project.targets}
        for loader in WholeProject(project, settings).code.facts.loaders:
            if loader.path in targets and not loader.module.is_test:
                yield LoaderRun(loader, None)


def examine(machine: Machine, loaders: Sequence[LoaderRun], batch_bytes: int | None = None) -> Diagnosis:
    """Hold what the loaders need against what the machine gives; `batch_bytes` is the user's own number."""
    demands = [demand for loader in loaders if (demand := loader.demand(batch_bytes)) is not None]
    demand = max(demands, key=lambda each: each.bytes, default=None)
    budgets = [
        _shared_memory(machine, demand, loaders),
        _memory(machine, demand, loaders),
        _processors(machine, loaders),
        _open_files(machine),
    ]
    return Diagnosis(machine, budgets, list(_notes(machine)))


# Budgets


def _no_need(loaders: Sequence[LoaderRun]) -> str:
    """Why nothing is needed for workers: there are none; empty if there may be some."""
    if not loaders:
        return "there are no loaders to fit"
    return "" if any(loader.most_workers != 0 for loader in loaders) else "no loader has workers"


def _shared_memory(machine: Machine, demand: Demand | None, loaders: Sequence[LoaderRun]) -> Budget:
    name, total = "shared memory", machine.shm_total
    where = "this container" if machine.container else "this machine"
    if idle := _no_need(loaders):
        has = f"; {where} has {shown(total)}" if total is not None else ""
        return Budget(name, Verdict.FITS, f"{idle}{has}", 0, total)
    if total is None:
        return Budget(name, Verdict.UNKNOWN, f"{where} has no /dev/shm that could be looked at")
    if demand is None:
        text = f"the bytes of a batch cannot be read off the code; {where} has {shown(total)}"
        return Budget(name, Verdict.UNKNOWN, text, None, total, "say them with --batch-bytes, such as 600MB")
    text = f"{_place(demand)} can fill {demand.phrase} of /dev/shm; {where} has {shown(total)}"
    if demand.bytes > total:
        advice = "give it more (`dllint shm` prints the settings), or lower workers, prefetch_factor or batch_size"
        return Budget(name, Verdict.OVER, text, demand.bytes, total, advice)
    return Budget(name, Verdict.FITS, text, demand.bytes, total)


def _memory(machine: Machine, demand: Demand | None, loaders: Sequence[LoaderRun]) -> Budget:
    name = "memory"
    have = machine.memory_free
    if have is None:
        return Budget(name, Verdict.UNKNOWN, "how much memory is free cannot be told here")
    limit = f" of a limit of {shown(machine.memory_limit)}" if machine.memory_limit is not None else ""
    text = f"{shown(have)}{limit} are free"
    if idle := _no_need(loaders):
        return Budget(name, Verdict.FITS, f"{idle}; {text}", 0, have)
    if demand is None:
        return Budget(name, Verdict.UNKNOWN, text, None, have)
    text += f"; batches in shared memory count against it: {shown(demand.bytes)}"
    verdict = Verdict.OVER if demand.bytes > have else Verdict.FITS
    return Budget(name, verdict, text, demand.bytes, have, "raise the limit" if verdict is Verdict.OVER else "")


def _processors(machine: Machine, loaders: Sequence[LoaderRun]) -> Budget:
    name, have = "processors", machine.processors
    usable = f"{have} of {machine.processors_in_machine} CPUs may be used"
    if idle := _no_need(loaders):
        return Budget(name, Verdict.FITS, f"{idle}; {usable}", 0, have)
    known = [loader for loader in loaders if loader.workers]
    if not known:
        return Budget(name, Verdict.UNKNOWN, usable, None, have)
    most = max(known, key=lambda loader: loader.workers or 0)
    need = most.workers or 0
    text = f"{most.loader.path}:{most.loader.location.row} starts {need} workers; {usable}"
    if need > have:
        return Budget(name, Verdict.OVER, text, need, have, f"start at most {have} workers here")
    return Budget(name, Verdict.FITS, text, need, have)


def _open_files(machine: Machine) -> Budget:
    name, have = "open files", machine.open_files
    if have is None:
        return Budget(name, Verdict.FITS, "nothing limits the number of open files")
    text = f"up to {have} files may be open"
    if have < _FEWEST_FILES:
        advice = "raise it (`ulimit -n 65536`): each tensor that main keeps is an open file"
        return Budget(name, Verdict.OVER, text, _FEWEST_FILES, have, advice)
    return Budget(name, Verdict.FITS, text, _FEWEST_FILES, have)


def _notes(machine: Machine) -> Iterator[str]:
    version = ".".join(map(str, machine.python))
    torch = f"torch {machine.torch}" if machine.torch else "torch is not installed"
    yield f"Python {version}, {torch}, workers are started by {machine.start_method}"
    if machine.tokenizers_parallelism.lower() in ("1", "true", "yes", "on"):
        yield "TOKENIZERS_PARALLELISM is on: a fast tokenizer that main used hangs in forked workers"
    if machine.opencv and machine.processors_in_machine > 1:
        yield f"OpenCV {machine.opencv} starts threads in each worker, unless cv2.setNumThreads(0) is called there"


def _place(demand: Demand) -> str:
    return f"{demand.loader.path}:{demand.loader.location.row}"


# Output


def _lines(found: Diagnosis, *, bars: bool) -> Iterator[str]:
    width = max(len(budget.name) for budget in found.budgets)
    for budget in found.budgets:
        bar = f"{_bar(budget)}  " if bars else ""
        yield f"{budget.name:<{width}}  {bar}{budget.verdict.value}: {budget.text}"
        if budget.help:
            yield f"{'':<{width}}  help: {budget.help}"
    yield from found.notes


def _bar(budget: Budget) -> str:
    """How much of what there is the need takes."""
    if budget.need is None or not budget.have:
        return "[" + "?" * _BAR + "]"
    full = min(_BAR, round(_BAR * budget.need / budget.have))
    return "[" + "#" * full + "." * (_BAR - full) + "]"


def _as_dict(found: Diagnosis) -> dict[str, Any]:
    return {
        "verdict": {FITS: "fits", DOES_NOT_FIT: "does not fit", CANNOT_TELL: "cannot tell"}[found.status],
        "machine": found.machine.as_dict(),
        "budgets": [{**budget._asdict(), "verdict": budget.verdict.value} for budget in found.budgets],
        "notes": found.notes,
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dllint doctor",
        description="Hold what this machine gives against what the project's loaders need.",
        epilog="Exit status: 0 it fits, 1 it does not, 2 it cannot be told.",
        allow_abbrev=False,
    )
    parser.add_argument("path", nargs="?", default=".", metavar="PATH")
    parser.add_argument("--batch-bytes", type=byte_size, metavar="SIZE", help="bytes of a batch that the code hides")
    parser.add_argument("--output-format", choices=("text", "json"), default="text")
    parser.add_argument("--config", metavar="FILE", help="read settings from this file")
    parser.add_argument("--isolated", action="store_true", help="read no settings file")
    return parser
