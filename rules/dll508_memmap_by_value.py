"""DLL508 memmap-by-value

## What it does

Reports an array that a dataset maps from a file when it is made (`np.memmap`, `np.load(..., mmap_mode=...)`), keeps,
and reads in workers that may be spawned. Arrays that are mapped in the worker on first use, or that `__getstate__`
drops, are fine, and so are workers that are certainly forked.

## Why it breaks workers

Spawn and forkserver pickle the dataset once for each worker, and pickle writes out the whole array: the map becomes a
copy in the memory of each worker. A file of 512 MiB made each worker 512 MiB larger, and the first batch came after 9.5
seconds instead of 1.1. That is so on Windows and macOS, and on Linux from Python 3.14. Forked workers share the map.

## Example

```python
import numpy as np
from torch.utils.data import Dataset


class Tokens(Dataset):
    def __init__(self, path, block):
        self.tokens = np.memmap(path, dtype=np.uint16, mode="r")
        self.block = block

    def __len__(self):
        return len(self.tokens) // self.block

    def __getitem__(self, i):
        return self.tokens[i * self.block : (i + 1) * self.block].astype(np.int64)
```

## Use instead

```python
import numpy as np
from torch.utils.data import Dataset


class Tokens(Dataset):
    def __init__(self, path, block, total):
        self.path, self.block, self.total = path, block, total
        self.tokens = None

    def __len__(self):
        return self.total // self.block

    def __getitem__(self, i):
        if self.tokens is None:
            self.tokens = np.memmap(self.path, dtype=np.uint16, mode="r")
        return self.tokens[i * self.block : (i + 1) * self.block].astype(np.int64)
```

## When to ignore

When the file is small, or workers are only ever forked: set `platforms = ["linux"]` and `target-python`, or
`start-method = "fork"`.

## References

- Measured on torch 2.13 and NumPy 2.4: 512 MiB, private memory of a spawned worker 657 MiB, of a forked one 145 MiB
- https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.facts import WorkerEntry
from dllint.code.handles import memmaps
from dllint.code.workers import state
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL508",
    name="memmap-by-value",
    severity=Severity.WARNING,
    failure=Failure.SLOW,
    since="0.1",
    basis=proven("spawn", "forkserver"),
)


@RULE.check
def memmap_by_value(entry: WorkerEntry) -> Iterator[Finding]:
    """Yield the mapped arrays that are pickled with a dataset, or with an object that its loaders call."""
    if not entry.may_pickle:
        return
    for item in entry.items:
        opened = memmaps.mapped_array(entry.program, item.value)
        if opened is None or entry.drops(item):
            continue
        read = state.read_in_worker(entry.code, item)
        if read is None:
            continue
        step, node = read
        name = opened.name.replace("numpy", "np", 1)
        yield RULE.finding(
            opened.frame.scope.module.location(opened.node),
            f"{name}() maps a file, which spawn and forkserver pickle by value: each worker gets a copy of all of it",
            help="keep the path and map the file in the worker on first use, or drop the array in __getstate__",
            related=[
                Related(f"kept as {item.path}", item.frame.scope.module.location(item.write.node)),
                *entry.way(step),
                Related("read in a worker here", step.scope.module.location(node)),
            ],
            symbol=item.owner.qualname,
            evidence=item.path,
        )
