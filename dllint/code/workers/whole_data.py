"""Which values are finite data at hand: files, listings, numbers."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dllint.code.language.scopes import last_name
from dllint.code.language.values import Collection, Derived, Function, Instance, Number, Product, Value
from dllint.code.workers import datasets

if TYPE_CHECKING:
    from dllint.code.program import Program


def is_data(program: Program, value: Value, depth: int = 0) -> bool:
    """Whether a value is data at hand: a file, a listing, numbers - and no dataset, loader or unknown iterable."""
    if depth > 4:
        return False
    if isinstance(value, Collection):
        if value.each is None:
            return bool(value.items)
        if isinstance(value.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False  # a generator of the project: looked at by itself
        return _comprehends_data(program, value, depth)
    if isinstance(value, Product):
        if value.name in _TRANSPARENT and value.node.args:
            argument = value.node.args[-1 if value.name == "builtins.zip" else 0]
            return _all_data(program, argument, value, depth)
        return value.name in _DATA
    if isinstance(value, Derived):
        origin = value.origin
        return not isinstance(origin, (Instance, Function)) and is_data(program, origin, depth + 1)
    if isinstance(value, Instance):
        return not datasets.is_dataset_class(program, value.cls) and "__iter__" in value.cls.methods
    return isinstance(value, Number)


def _all_data(program: Program, node: ast.expr, value: Product, depth: int) -> bool:
    return all(is_data(program, inner, depth + 1) for inner in program.evaluator.values(node, value.frame))


def _comprehends_data(program: Program, value: Collection, depth: int) -> bool:
    node = value.node
    source = None
    if isinstance(node, ast.Call) and node.args:
        source = node.args[-1 if last_name(node) in ("map", "filter") else 0]
    if isinstance(node, ast.Subscript):
        source = node.value  # a slice
    generators = getattr(node, "generators", None)
    if generators:
        source = generators[0].iter
    if source is None:
        return False
    return all(is_data(program, inner, depth + 1) for inner in program.evaluator.values(source, value.frame))


_TRANSPARENT = frozenset(
    {
        "itertools.islice",
        "builtins.enumerate",
        "builtins.iter",
        "builtins.zip",
        "builtins.reversed",
        "tqdm.tqdm",
        "tqdm.auto.tqdm",
        "csv.reader",
        "csv.DictReader",
    }
)

_DATA = frozenset(
    {
        "builtins.range",
        "sqlite3.connect",
        "duckdb.connect",
        "pyarrow.parquet.ParquetFile",
        "pyarrow.parquet.read_table",
        "builtins.open",
        "gzip.open",
        "io.open",
        "glob.glob",
        "glob.iglob",
        "os.listdir",
        "os.scandir",
        "os.walk",
        "json.load",
        "json.loads",
        "pickle.load",
        "numpy.arange",
        "numpy.load",
        "numpy.random.permutation",
        "torch.randperm",
        "torch.arange",
        "torch.load",
        "pandas.read_csv",
        "pandas.read_parquet",
        "h5py.File",
        "tarfile.open",
        "jsonlines.open",
        "numpy.memmap",
        "pathlib.Path",
        "random.sample",
        "pandas.read_json",
        "numpy.linspace",
    }
)
