"""Calls in forked workers that wait for threads which only main has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.code import apis
from dllint.code.language.arguments import collect
from dllint.code.language.scopes import FunctionScope, last_name
from dllint.code.language.values import Const, Derived, Product, Value, by_default
from dllint.code.processes import tokenizers
from dllint.code.workers.reach import Step, is_main_only
from dllint.records import dataclass

if TYPE_CHECKING:
    from dllint.code.facts import WorkerEntry

_SET_THREADS = frozenset({"torch.set_num_threads"})
_RAY = "ray"


@dataclass(frozen=True, slots=True)
class Wait:
    """A call in a worker that waits for a thread which the fork has left behind."""

    step: Step
    call: ast.Call
    what: str
    help: str
    started: Product | None = None
    """The call by which main started the threads, where it is seen."""
    certain: bool = True
    """Whether main certainly starts them."""


def waits(entry: WorkerEntry) -> Iterator[Wait]:
    """The calls of one worker code that hang in a forked worker."""
    yield from _threads_of_torch(entry)
    yield from _ray(entry)
    yield from _polars(entry)
    yield from _tokenizers(entry)


def _threads_of_torch(entry: WorkerEntry) -> Iterator[Wait]:
    """`torch.set_num_threads(4)`: the next parallel operation waits for the OpenMP threads of main."""
    for step, call, _ in entry.code.library_calls(_SET_THREADS):
        options = collect(entry.program.evaluator, call, step.frame)
        given = [*options.positional, *options.named.values()]
        counts = by_default(given[0].values(entry.program.evaluator)) if given else ()
        if counts and all(isinstance(v, Const) and isinstance(v.value, int) and v.value > 1 for v in counts):
            what = "torch.set_num_threads() with more than one thread: once main has computed on several threads, the "
            what += "worker's next operation waits for ever for threads that the fork did not copy"
            trains = any(b".backward(" in module.data for module in entry.program.seeds)
            yield Wait(step, call, what, "call torch.set_num_threads(1) in workers", certain=trains)


def _ray(entry: WorkerEntry) -> Iterator[Wait]:
    """The first call of each function that needs Ray's threads: what fetches a result, else what asks for one."""
    if any(True for _ in entry.code.library_calls({"ray.init"})):
        return
    found: dict[FunctionScope, tuple[Step, ast.Call]] = {}
    for step, call, _ in entry.code.library_calls(apis.RAY_WAITS):
        found.setdefault(step.scope, (step, call))
    for step in entry.code.steps:
        if _imports_ray(step):
            for call in step.scope.index().calls:
                if _is_remote(call) and not is_main_only(entry.program, call, step.frame):
                    found.setdefault(step.scope, (step, call))
    for step, call in found.values():
        name = "ray.get()" if last_name(call) == "get" else f"{last_name(call)}()"
        what = f"{name} in a worker: Ray's threads are not copied by the fork, so it never returns"
        help_text = 'fetch in main, or use multiprocessing_context="spawn" and ray.init() in the worker'
        yield Wait(step, call, what, help_text)


def _imports_ray(step: Step) -> bool:
    top = step.scope.module.scope if step.scope.module.lines_with(_RAY) else None
    return top is not None and any(binding.kind == "import" for binding in top.bindings.get(_RAY, ()))


def _is_remote(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "remote"


def _polars(entry: WorkerEntry) -> Iterator[Wait]:
    """Queries that run on Polars' thread pool, after main has used it."""
    if not entry.program.modules_with("polars"):
        return
    in_workers = {id(step.scope) for step in entry.code.steps}
    started = next((used for item in entry.items if (used := _used(item.value, in_workers)) is not None), None)
    for step, call in entry.code.calls():
        waits_for_pool, own = _is_query(entry, step, call, in_workers)
        if waits_for_pool and (own or started) is not None:
            what = f"{last_name(call)}() of Polars in a worker, after main has used Polars: its thread pool is not "
            what += "copied by the fork, so the worker waits for ever"
            help_text = 'query in main and keep arrays, or use multiprocessing_context="spawn" or "forkserver"'
            yield Wait(step, call, what, help_text, own or started)


def _tokenizers(entry: WorkerEntry) -> Iterator[Wait]:
    """Batches that a fast tokenizer encodes on threads, as the program asks it to, after main has done so."""
    for step, call, started in tokenizers.waits(entry):
        what = f"a batch is tokenized in a worker with {tokenizers.VARIABLE}=true, after main has tokenized: the "
        what += "threads for it are not copied by the fork, so the worker waits for ever"
        help_text = f'set {tokenizers.VARIABLE} to "false", or tokenize single texts in workers'
        yield Wait(step, call, what, help_text, started)


def _is_query(entry: WorkerEntry, step: Step, call: ast.Call, in_workers: set[int]) -> tuple[bool, Product | None]:
    """Whether a call runs on the pool; and the call by which main used the pool for what it queries."""
    name = last_name(call)
    if name in ("read_csv", "read_parquet"):
        found = entry.program.evaluator.values(call, step.frame)
        return any(isinstance(v, Product) and v.name in apis.POLARS_READS for v in found), None
    if name not in apis.POLARS_QUERIES or not isinstance(call.func, ast.Attribute):
        return False, None
    for value in entry.program.evaluator.values(call.func.value, step.frame):
        origin = _origin_in_polars(value)
        if isinstance(origin, Product) and origin.name.startswith("polars."):
            return True, _used(value, in_workers)
    return False, None


def _origin_in_polars(value: Value) -> Value | None:
    """The start of a chain that has not left Polars."""
    if not isinstance(value, Derived):
        return value
    return None if any(step.via in apis.POLARS_LEFT_BY for step in value.chain()) else value.origin


def _used(value: Value, in_workers: set[int]) -> Product | None:
    """The call in main that made a frame by means of the pool."""
    origin = value.origin if isinstance(value, Derived) else value
    if not isinstance(origin, Product) or not origin.name.startswith("polars."):
        return None
    steps = list(value.chain()) if isinstance(value, Derived) else []
    mains = [step for step in steps if id(step.frame.scope) not in in_workers]
    queried = any(step.via.strip(".()") in apis.POLARS_QUERIES for step in mains)
    made_in_main = id(origin.frame.scope) not in in_workers
    return origin if made_in_main and (queried or origin.name in apis.POLARS_READS) else None
