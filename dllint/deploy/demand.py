"""How much shared memory a loader can fill.

Measured on torch 2.13 over 24 combinations of workers, prefetch, collate function and sharing strategy: the peak lies
at (workers x prefetch + 2) batches. The next index is sent to a worker before the loop lets go of the last batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.deploy.sizes import shown
from dllint.finding import Related
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.loaders.loader import Loader

PREFETCH = 2
"""Batches that a worker loads ahead where nobody says otherwise."""


def peak_bytes(workers: int, prefetch: int, batch_bytes: int) -> int:
    """Bytes of /dev/shm that a loader can fill; none without workers."""
    return (workers * prefetch + 2) * batch_bytes if workers else 0


@dataclass(frozen=True, slots=True)
class Demand:
    """How much shared memory one loader can fill: (workers x prefetch + 2) batches, measured as the peak."""

    loader: Loader
    workers: int
    prefetch: int
    batch_bytes: int
    """Bytes of the tensors of one batch."""
    is_exact: bool
    """Whether every number is known; else it needs so much at least."""
    ranks: int = 1
    """The processes of the container that each have such a loader."""

    @property
    def bytes(self) -> int:
        """The peak."""
        return self.ranks * peak_bytes(self.workers, self.prefetch, self.batch_bytes)

    @property
    def phrase(self) -> str:
        """`(8 workers x 2 + 2) batches of 38 MB = 694 MB`, with `at least` before it for a lower bound.

        Several ranks stand before the parenthesis: `4 ranks x (8 workers ...`.
        """
        many = "worker" if self.workers == 1 else "workers"
        batches = f"({self.workers} {many} x {self.prefetch} + 2) batches of {shown(self.batch_bytes)}"
        of_all = f"{self.ranks} ranks x {batches}" if self.ranks > 1 else batches
        return f"{'' if self.is_exact else 'at least '}{of_all} = {shown(self.bytes)}"

    def related(self) -> Related:
        """The loader, for the way of a finding."""
        of_each = f", in each of {self.ranks} ranks" if self.ranks > 1 else ""
        return Related(
            f"{self.workers} workers x {self.prefetch} batches x {shown(self.batch_bytes)} here{of_each}",
            self.loader.location,
        )
