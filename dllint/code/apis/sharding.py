"""Library calls by which a worker learns its share."""

from __future__ import annotations

WORKER_QUERIES = frozenset(
    {
        "torch.utils.data.get_worker_info",
        "webdataset.split_by_worker",
        "webdataset.utils.pytorch_worker_info",
        "streaming.base.world.World",
        "streaming.World",
        "streaming.base.World",
    }
)
"""Calls that ask which worker this is."""
