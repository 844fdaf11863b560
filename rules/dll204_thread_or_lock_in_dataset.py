"""DLL204 thread-or-lock-in-dataset

## What it does

Reports what has threads of its own, is started or used before the workers start, and is used by worker code: a
thread pool, a thread that fills a queue, an event loop that a thread runs, a `SummaryWriter`, an asynchronous
filesystem of fsspec (S3, GCS, HTTP ...); on the dataset, on what it holds, or at module level. An executor that
nothing has used before the fork, a bare lock and a bare queue are fine under fork: DLL502 has them.

## Why it breaks workers

A fork copies the object, but none of the threads: whatever a worker hands to the pool, the queue or the loop is never
done, and it waits for ever, without a message. fsspec notices and raises `RuntimeError: This class is not fork-safe`.
Python 3.12 and newer warn: `DeprecationWarning: This process is multi-threaded, use of fork() may lead to deadlocks
in the child.`

## Example

```python
from concurrent.futures import ThreadPoolExecutor

from torch.utils.data import Dataset


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Records(Dataset):
    def __init__(self, paths):
        self.paths = paths
        self.pool = ThreadPoolExecutor(4)
        self.sizes = list(self.pool.map(len, paths))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        return self.pool.submit(read, self.paths[i]).result()
```

## Use instead

```python
from concurrent.futures import ThreadPoolExecutor

from torch.utils.data import Dataset


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Records(Dataset):
    def __init__(self, paths):
        self.paths = paths
        with ThreadPoolExecutor(4) as pool:
            self.sizes = list(pool.map(len, paths))
        self.pool = None

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        if self.pool is None:
            self.pool = ThreadPoolExecutor(4)
        return self.pool.submit(read, self.paths[i]).result()
```

## When to ignore

When the workers are always spawned, in a way that does not show in the source.

## References

- Measured on torch 2.13 with forked workers: 16 kinds of objects
- https://github.com/fsspec/filesystem_spec/issues/835 and https://github.com/fsspec/gcsfs/issues/379
- https://docs.python.org/3/library/os.html#os.fork
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.facts import WorkerEntry
from dllint.code.language.scopes import ClassScope
from dllint.code.language.values import Instance
from dllint.code.processes import threads
from dllint.code.processes.threads import Threaded, Use
from dllint.code.workers import state
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL204",
    name="thread-or-lock-in-dataset",
    severity=Severity.ERROR,
    failure=Failure.STALL,
    since="0.1",
    basis=proven("fork", "spawn", "forkserver"),
    replaced_by=("DLL201",),
)


@RULE.check
def thread_or_lock_in_dataset(entry: WorkerEntry) -> Iterator[Finding]:
    """Yield what needs a thread of main in the workers of an entry that may be forked."""
    if entry.may_fork:
        yield from _carried(entry)
        yield from _threads_waited_for(entry)
        yield from _of_modules(entry)


def _carried(entry: WorkerEntry) -> Iterator[Finding]:
    for item in entry.items:
        found = threads.of_item(entry.program, entry.code, item)
        read = state.read_in_worker(entry.code, item) if found is not None else None
        if found is not None and read is not None:
            kept = Related(f"kept as {item.path}", item.frame.scope.module.location(item.write.node))
            yield _finding(entry, found, [kept], Use(*read), item.owner.qualname, item.path)


def _threads_waited_for(entry: WorkerEntry) -> Iterator[Finding]:
    owners: dict[ClassScope, None] = {}
    if entry.dataset is not None:
        owners[entry.dataset.cls] = None
    owners |= {item.owner: None for item in entry.items}
    owners |= {item.value.cls: None for item in entry.items if isinstance(item.value, Instance)}
    waits = [(item, threads.waits(entry.program, entry.code, item)) for item in entry.items]
    for owner in owners:
        reported = set()
        for item, use in waits:
            if use is None or item.owner is not owner:
                continue
            for found in threads.started_threads(entry.program, owner, item.attribute):
                if found.location not in reported:
                    reported.add(found.location)
                    yield _finding(entry, found, [], use, owner.qualname, "thread")


def _of_modules(entry: WorkerEntry) -> Iterator[Finding]:
    for step in entry.code.steps:
        for name, found in threads.at_module_level(entry.program, step.scope.module):
            node = step.scope.read_of_global(name)
            if node is not None:
                yield _finding(entry, found, [], Use(step, node), step.scope.module.name, name)


def _finding(entry: WorkerEntry, found: Threaded, kept: list[Related], use: Use, symbol: str, evidence: str) -> Finding:
    return RULE.finding(
        found.location,
        f"{found.name}() starts threads before the workers are forked, and {entry.name} uses it in them: {found.harm}",
        help="make it on first use in each process, or make it here, use it and let it go",
        related=[*found.started, *kept, *entry.way(use.step), use.related()],
        symbol=symbol,
        evidence=evidence,
    )
