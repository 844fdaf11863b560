"""DLL205 opencv-threads

## What it does

Reports OpenCV work in worker code of a project that nowhere sets the number of OpenCV's threads. One report for each
dataset or collate function, at the first such call.

## Why it breaks workers

Where main has not used OpenCV before the workers start, each worker starts a pool of its own, with a thread for each
processor: 8 workers on 8 processors make 64 threads that only get in each other's way. The hang that is often told of
could not be produced with any build.

## Example

```python
import cv2
from torch.utils.data import Dataset


class Photos(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        return cv2.resize(cv2.imread(self.paths[i]), (224, 224))
```

## Use instead

```python
import cv2
from torch.utils.data import Dataset

cv2.setNumThreads(0)


class Photos(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        return cv2.resize(cv2.imread(self.paths[i]), (224, 224))
```

## When to ignore

When the images are small: OpenCV uses one thread for them anyway.

## References

- Measured with OpenCV 4.5.5, 4.8.1, 4.10 and 5.0
- https://github.com/pytorch/pytorch/issues/1838
- https://github.com/cvg/Hierarchical-Localization/pull/14
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code import apis
from dllint.code.facts import WorkerEntry
from dllint.code.language.scopes import last_name
from dllint.code.language.values import External
from dllint.code.program import Program
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL205",
    name="opencv-threads",
    severity=Severity.INFO,
    failure=Failure.SLOW,
    since="0.1",
    basis=proven(),
    opt_in=True,
)

_NAMES = frozenset(name.rpartition(".")[2] for name in apis.THREADED_CV2)


@RULE.check
def opencv_threads(entry: WorkerEntry) -> Iterator[Finding]:
    """Yield the first OpenCV work of an entry's worker code."""
    if not entry.start_methods or _sets_threads(entry.program):
        return
    for step, call in entry.code.calls():
        if last_name(call.func) not in _NAMES or b"cv2" not in step.scope.module.data:
            continue
        called = [v.name for v in entry.program.evaluator.values(call.func, step.frame) if isinstance(v, External)]
        if any(name in apis.THREADED_CV2 for name in called):
            yield RULE.finding(
                step.scope.module.location(call),
                f"{called[0]}() in workers, and nothing sets OpenCV's threads: each worker may start a pool of its own",
                help="call cv2.setNumThreads(0) at module level, or in worker_init_fn",
                related=entry.way(step),
                symbol=step.scope.qualname,
                evidence="cv2",
            )
            return


def _sets_threads(program: Program) -> bool:
    """Whether the project speaks of OpenCV's threads, other than in a comment."""
    return any(
        word in module.source.lines[row - 1].partition("#")[0]
        for word in apis.SETS_CV2_THREADS
        for module in program.modules_with(word)
        for row in module.lines_with(word)
    )
