"""Whether the workers of an iterable dataset share out its data among them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language.iterators import is_endless
from dllint.code.language.links import parent
from dllint.code.language.scopes import FunctionScope, last_name
from dllint.code.language.values import Collection, Const, Derived, External, Function, Instance, Number, Product, Value
from dllint.code.workers import datasets
from dllint.code.workers.datasets import Dataset
from dllint.code.workers.reach import Step

if TYPE_CHECKING:
    from dllint.code.program import Program

_QUERY_WORDS = (
    "worker_info",
    "split_by_worker",
    "num_workers",
    "worker_id",
    "split_by_node",
    "nodesplitter",
    "shard_index",
)


def asks_for_worker(dataset: Dataset) -> bool:
    """Whether anything in its worker code asks which worker runs it, as far as names and calls tell."""
    for step in dataset.worker.steps:
        for node in ast.walk(step.scope.node):
            named = isinstance(node, (ast.Name, ast.Attribute)) and _speaks_of_worker(last_name(node))
            if named and not _is_answer_of_main(dataset, step, node):
                return True
        for call in step.scope.index().calls:
            for value in dataset.program.evaluator.values(call.func, step.frame):
                if isinstance(value, External) and value.name in apis.WORKER_QUERIES:
                    return True
    return False


def _is_answer_of_main(dataset: Dataset, step: Step, node: ast.AST) -> bool:
    """Whether it is what `get_worker_info()` gave to `__init__`: that runs in main, where there is no worker."""
    found = dataset.program.evaluator.values(node, step.frame)
    origins = [value.origin if isinstance(value, Derived) else value for value in found]
    asked = [origin for origin in origins if isinstance(origin, Product) and origin.name in apis.WORKER_QUERIES]
    in_worker = {at.scope for at in dataset.worker.steps}
    if not asked or any(origin.frame.scope in in_worker for origin in asked):
        return False
    return all(origin in asked or isinstance(origin, Const) for origin in origins)


def _speaks_of_worker(name: str) -> bool:
    return any(word in name.lower() for word in _QUERY_WORDS)


def own_iter(dataset: Dataset) -> Step | None:
    """The `__iter__` that workers run."""
    return next((s for s in dataset.worker.steps if s.scope.name == "__iter__" and s.parent is None), None)


def own_source(dataset: Dataset, start: Step) -> tuple[Step, ast.AST] | None:
    """The finite data of its own, no other dataset, that `__iter__` passes on; None where that cannot be seen."""
    for step in _generators(dataset, start):
        found = _source(dataset.program, step)
        if found is not None:
            return step, found
    return None


def _generators(dataset: Dataset, start: Step) -> Iterator[Step]:
    """`__iter__`, and the generators of the project that it passes on or loops over."""
    yield start
    for step in dataset.worker.steps:
        if step.parent is not None and step.scope.is_generator and _leads_to(step, start):
            yield step


def _leads_to(step: Step, start: Step) -> bool:
    at: Step | None = step
    while at is not None:
        if at is start:
            return True
        at = at.parent
    return False


def _source(program: Program, step: Step) -> ast.AST | None:
    scope: FunctionScope = step.scope
    scope.index()
    for yielded in scope.yields:
        if is_endless(yielded):
            return None
        if isinstance(yielded, ast.YieldFrom) and _is_own(program, yielded.value, step):
            return yielded
        looped = _while_source(program, yielded, step)
        if looped is not None:
            return looped
    for loop in scope.loops:
        if not isinstance(loop, ast.For) or not _yields_of(loop) or is_endless(loop) or _is_count(loop):
            continue
        if _is_own(program, loop.iter, step):
            return loop.iter
    for returned in scope.returns:
        if returned.value is not None and not scope.yields and _is_own(program, returned.value, step):
            return returned
    return None


def _while_source(program: Program, node: ast.AST, step: Step) -> ast.AST | None:
    """`line = file.readline()`, then `while line: yield ...`: the loop ends with the data."""
    at: ast.AST | None = node
    while at is not None and not isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if isinstance(at, ast.While) and isinstance(at.test, ast.Name) and _is_own(program, at.test, step):
            return at.test
        at = parent(at)
    return None


def _yields_of(loop: ast.For) -> bool:
    """Whether the loop yields something made of what it passes."""
    names = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
    yields = [n for n in ast.walk(loop) if isinstance(n, (ast.Yield, ast.YieldFrom))]
    return bool(yields) and bool(names)


def _is_count(loop: ast.For) -> bool:
    """`for _ in range(n)`: so many draws, not a pass over data."""
    names = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
    used = {n.id for statement in loop.body for n in ast.walk(statement) if isinstance(n, ast.Name)}
    return isinstance(loop.iter, ast.Call) and last_name(loop.iter) == "range" and not names & used


def _is_own(program: Program, node: ast.expr, step: Step) -> bool:
    found = program.evaluator.values(node, step.frame)
    return bool(found) and all(_is_data(program, value, 0) for value in found)


def _is_data(program: Program, value: Value, depth: int) -> bool:
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
        return not isinstance(origin, (Instance, Function)) and _is_data(program, origin, depth + 1)
    if isinstance(value, Instance):
        return not datasets.is_dataset_class(program, value.cls) and "__iter__" in value.cls.methods
    return isinstance(value, Number)


def _all_data(program: Program, node: ast.expr, value: Product, depth: int) -> bool:
    return all(_is_data(program, inner, depth + 1) for inner in program.evaluator.values(node, value.frame))


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
    return all(_is_data(program, inner, depth + 1) for inner in program.evaluator.values(source, value.frame))


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
