"""How many processes of one container run a script: each rank of `torchrun` builds its loaders anew, with workers of
its own, and all of them share one /dev/shm."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from dllint.deploy.runs import ScriptRun

_STARTS_RANKS = ("torchrun", "launch", "nproc", "mpirun", "deepspeed", "srun")
"""Words of commands that start a program several times."""
_NUMBERS = frozenset({"-n", "-np", "--np", "--ntasks", "--nproc_per_node", "--nproc-per-node", "--num_processes"})
"""Options of theirs that say how often."""
_MOST = 64
"""Ranks of one machine: a larger number is none."""


class _Starter(NamedTuple):
    """A program that starts ranks, and the options that say how many."""

    here: tuple[str, ...]
    """Options with the ranks of one machine."""
    over_all: tuple[str, ...] = ()
    """Options with the ranks of all machines together."""
    machines: tuple[str, ...] = ()
    """Options with the number of machines."""


_TORCHRUN = _Starter(("--nproc_per_node", "--nproc-per-node"))
_STARTERS = {
    "torchrun": _TORCHRUN,
    "torch.distributed.run": _TORCHRUN,
    "torch.distributed.launch": _TORCHRUN,
    "torchelastic.distributed.launch": _TORCHRUN,
    "deepspeed": _Starter(("--num_gpus",)),
    "composer": _Starter(("-n", "--nproc")),
    "accelerate": _Starter((), ("--num_processes", "--num-processes"), ("--num_machines", "--num-machines")),
}


def may_start_ranks(words: Sequence[str]) -> bool:
    """Whether a command may start a program several times."""
    if not any(word in text for text in words for word in _STARTS_RANKS):
        return False
    numbers = [after for word, after in pairwise(words) if word in _NUMBERS]
    numbers += [value for name, _, value in (word.partition("=") for word in words) if value and name in _NUMBERS]
    return set(numbers) != {"1"}


def ranks(run: ScriptRun | None) -> int:
    """The processes of one container that run a script, at least; 1 where that is not known."""
    words = run.words[: len(run.words) - len(run.arguments)] if run is not None else ()
    starter = next((_STARTERS[name] for name in map(os.path.basename, words) if name in _STARTERS), None)
    if starter is None:
        return 1
    here = _number(words, starter.here)
    if here is None and starter.over_all:
        over_all, machines = _number(words, starter.over_all), _number(words, starter.machines)
        here = over_all // (machines or 1) if over_all is not None and not _is_given_unseen(words, starter) else None
    return here if here is not None and 0 < here <= _MOST else 1


def _is_given_unseen(words: Sequence[str], starter: _Starter) -> bool:
    """Whether the number of machines is said, and cannot be known."""
    is_said = any(word.partition("=")[0] in starter.machines for word in words)
    return is_said and not _number(words, starter.machines)


def _number(words: Sequence[str], options: tuple[str, ...]) -> int | None:
    """The whole number that one of these options is given; None where none is, or it is no number."""
    for word, after in zip(words, (*words[1:], ""), strict=True):
        name, equals, value = word.partition("=")
        text = value if equals else after
        if name in options and text.isascii() and text.isdecimal():
            return int(text[:4])
    return None
