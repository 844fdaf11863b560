"""Libraries whose threads do not come along over a fork: what starts them, and what waits for them afterwards."""

from __future__ import annotations

RAY_WAITS = frozenset({"ray.get", "ray.wait", "ray.put"})
"""Calls that need the threads of Ray's core worker."""

POLARS_READS = frozenset({"polars.read_csv", "polars.read_parquet"})
POLARS_QUERIES = frozenset(
    {
        "filter",
        "sort",
        "group_by",
        "join",
        "unique",
        "sample",
        "partition_by",
        "collect",
    }
)
"""Methods that run on Polars' thread pool. Measured on polars 2.1: row, slice, select, with_columns, sum, head, rows,
to_dicts and iter_rows do not; nor does making a frame of what is in memory."""

POLARS_LEFT_BY = frozenset(
    f".{name}()"
    for name in (
        "to_pandas",
        "to_numpy",
        "to_arrow",
        "to_torch",
        "to_jax",
        "to_list",
        "to_dict",
        "to_dicts",
        "rows",
        "row",
    )
)
"""Methods that give what another library works on, or plain Python."""
