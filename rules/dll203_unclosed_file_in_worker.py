"""DLL203 unclosed-file-in-worker

## What it does

Reports a file, archive, video or image that worker code opens for a sample and that stays open after it: kept in a
list or dict of the dataset or of the module, opened by PyAV without `close`, or as the bare descriptor of `os.open`
and `tempfile.mkstemp`. A local variable is fine: its file is closed when the call ends. So is a handle that is opened
once in each worker.

## Why it breaks workers

Each sample leaves a descriptor behind, until the worker's limit (1024 by default) is reached: `OSError: [Errno 24] Too
many open files` in the worker, often only `EOFError` in main.

## Example

```python
from torch.utils.data import Dataset


class Parts(Dataset):
    def __init__(self, paths):
        self.paths = paths
        self.opened = []

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        file = open(self.paths[i], "rb")
        self.opened.append(file)
        return file.read()
```

## Use instead

```python
from torch.utils.data import Dataset


class Parts(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        with open(self.paths[i], "rb") as file:
            return file.read()
```

## When to ignore

When the samples come from a handful of files, and each is opened once.

## References

- Measured on torch 2.13, Python 3.11, PyAV 18.1
- https://github.com/pytorch/pytorch/issues/165532
- https://docs.python.org/3/library/tempfile.html#tempfile.mkstemp
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.facts import WorkerEntry
from dllint.code.handles import leaks
from dllint.code.handles.leaks import Leak
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL203",
    name="unclosed-file-in-worker",
    severity=Severity.WARNING,
    failure=Failure.DESCRIPTORS,
    since="0.1",
    basis=proven(),
    replaced_by=("DLL210",),
)


@RULE.check
def unclosed_file_in_worker(entry: WorkerEntry) -> Iterator[Finding]:
    """Yield the handles that worker code leaves open."""
    for leak in leaks.find(entry.program, entry.code):
        yield _finding(entry, leak)


def _finding(entry: WorkerEntry, leak: Leak) -> Finding:
    module = leak.step.scope.module
    kept = [Related("kept here", module.location(leak.kept))] if leak.kept is not None else []
    return RULE.finding(
        leak.frame.scope.module.location(leak.opened),
        f"{leak.name}() in a worker {leak.why}: the worker runs out of descriptors",
        help="open it in a with statement, or close it before the sample is returned",
        related=[*entry.way(leak.step), *kept],
        symbol=leak.frame.scope.qualname,
        evidence=leak.name,
    )
