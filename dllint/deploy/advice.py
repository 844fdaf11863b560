"""Which size of shared memory to advise."""

from __future__ import annotations

from dllint.deploy.sizes import GIB
from dllint.deploy.training import Training

_SENSIBLE = 8 * GIB
"""What is advised where the need is not known: it costs nothing until it is used."""


def size_for(training: Training) -> int:
    """Bytes to give to a workload: half as much again as the code needs, where that is known and large."""
    demand = training.demand
    return max(_SENSIBLE, demand.bytes * 3 // 2) if demand is not None else _SENSIBLE


def spelled(training: Training) -> str:
    """That size as the launcher reads it."""
    return training.workload.launcher.spell(size_for(training))
