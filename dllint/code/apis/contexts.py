"""The calls of multiprocessing: what holds a lock of one context, what settles the start method, what starts processes.

Source: Python 3.11, each of them run with fork, spawn and forkserver under torch 2.13.
"""

from __future__ import annotations

MODULES = ("multiprocessing", "torch.multiprocessing")

SYNCHRONIZED = frozenset(
    {
        "Array",
        "Barrier",
        "BoundedSemaphore",
        "Condition",
        "Event",
        "JoinableQueue",
        "Lock",
        "Queue",
        "RLock",
        "Semaphore",
        "SimpleQueue",
        "Value",
    }
)
"""What holds a semaphore: made under fork, it cannot be sent to a spawned process. RawValue and Pipe hold none."""

SETTLES = SYNCHRONIZED | {"Manager", "Pool"}
"""What settles the default start method when it is made by the default context."""


def last_of(name: str) -> str:
    """`Value` of `multiprocessing.Value`; an empty string for what is not of multiprocessing."""
    module, _, last = name.rpartition(".")
    return last if module in MODULES else ""
