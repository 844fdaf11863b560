"""Library calls that give iterators: things that a second loop finds empty. Source: the Python 3.13 documentation."""

from __future__ import annotations

ONE_SHOT = frozenset(
    {
        "builtins.iter",
        "builtins.zip",
        "builtins.enumerate",
        "builtins.reversed",
        "builtins.map",
        "builtins.filter",
        "itertools.accumulate",
        "itertools.batched",
        "itertools.chain",
        "itertools.chain.from_iterable",
        "itertools.combinations",
        "itertools.compress",
        "itertools.dropwhile",
        "itertools.filterfalse",
        "itertools.groupby",
        "itertools.islice",
        "itertools.pairwise",
        "itertools.permutations",
        "itertools.product",
        "itertools.starmap",
        "itertools.takewhile",
        "itertools.zip_longest",
        "more_itertools.chunked",
        "more_itertools.batched",
        "more_itertools.sliced",
        "csv.reader",
        "csv.DictReader",
        "glob.iglob",
        "os.scandir",
        "os.walk",
    }
)
"""Calls whose result can be passed once."""

FIRST_IS_FUNCTION = frozenset(
    {
        "builtins.map",
        "builtins.filter",
        "itertools.starmap",
        "itertools.takewhile",
        "itertools.dropwhile",
        "itertools.filterfalse",
    }
)
"""Of these, those whose data comes after a function."""

ENDLESS = frozenset({"itertools.cycle", "itertools.count", "itertools.repeat"})
"""Calls whose result never ends (`repeat` only without a number of times)."""

MAY_BE_EMPTY = frozenset(
    {"csv.reader", "csv.DictReader", "glob.iglob", "os.scandir", "os.walk", "builtins.open", "gzip.open"}
)
"""Iterators over what lies on the disk: nothing tells that there is a first element."""
