"""DLL208 fixed-temp-path

## What it does

Reports a file that worker code writes under one and the same name for all samples and workers: by `open`, `np.save`,
`torch.save`, `imwrite`, `.save`, or as the output of ffmpeg, SoX and the like. Names that hold the index, the process
or the worker, temporary files and directories, files written under a lock, and finished files that are moved into
place and do not depend on the sample are fine.

## Why it breaks workers

All workers write the same file at the same time, and each reads back what another one wrote: 318 to 757 of 2,000
samples were those of another index with 4 workers, none with one worker. Nothing raises, but for an occasional
`FileNotFoundError`, a decoder's complaint about a truncated file, or HDF5's `OSError: Unable to synchronously create
file (unable to truncate a file which is already open)`.

## Example

```python
import subprocess

import soundfile
from torch.utils.data import Dataset


class Clips(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        subprocess.run(["ffmpeg", "-y", "-i", self.paths[i], "/tmp/clip.wav"], check=True)
        return soundfile.read("/tmp/clip.wav")[0]
```

## Use instead

```python
import subprocess
import tempfile

import soundfile
from torch.utils.data import Dataset


class Clips(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["ffmpeg", "-y", "-i", self.paths[i], f"{folder}/clip.wav"], check=True)
            return soundfile.read(f"{folder}/clip.wav")[0]
```

## When to ignore

When nobody reads the file, or when one worker at a time is all that ever runs.

## References

- Measured on torch 2.13
- https://docs.python.org/3/library/tempfile.html
- https://github.com/NVIDIA-NeMo/Speech/pull/4144
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dllint.basis import proven
from dllint.code import apis
from dllint.code.facts import WorkerEntry
from dllint.code.language import conditions
from dllint.code.language.links import parent
from dllint.code.language.scopes import last_name
from dllint.code.language.values import Derived, Product
from dllint.code.workers import state, writing
from dllint.code.workers.reach import Step
from dllint.code.workers.variation import Variation
from dllint.code.workers.writing import Output
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL208",
    name="fixed-temp-path",
    severity=Severity.WARNING,
    failure=Failure.WRONG_SAMPLES,
    since="0.1",
    basis=proven(),
)

_PROCESS_QUERIES = frozenset({*apis.WORKER_QUERIES, "os.getpid"})
_LOOKED_AT = ("debug", "verbose", "visual", "plot", "dry")
"""Parts of the names of switches for files that only a person looks at."""


@RULE.check
def fixed_temp_path(entry: WorkerEntry) -> Iterator[Finding]:
    """Yield the files that all workers of an entry write under one name."""
    if _has_one_worker(entry):
        return
    variation = Variation(entry.program, entry.code)
    for step, call in entry.code.calls():
        for output in writing.outputs(entry.program, call, step.frame):
            fixed = bool(output.text) or variation.of(output.node, step) is False
            if fixed and not _is_safe(call, output.node, step, variation):
                yield _finding(entry, step, call, output)
                break


def _has_one_worker(entry: WorkerEntry) -> bool:
    """Whether a single loader, with a single worker, is all that runs this code."""
    return len(entry.loaders) == 1 and entry.loaders[0].workers.is_known and entry.loaders[0].workers.constants() == [1]


def _is_safe(call: ast.Call, path: ast.expr, step: Step, variation: Variation) -> bool:
    """Whether one process at a time writes, or what is written is the same whoever does and comes whole."""
    if _is_for_one_process(call, step, variation) or _is_under_lock(call) or _is_for_people(call):
        return True
    if any(last_name(other.func) in ("chdir", "flock", "lockf") for other in step.scope.calls):
        return True
    return _is_moved_into_place(call, path, step, variation)


def _is_for_one_process(call: ast.Call, step: Step, variation: Variation) -> bool:
    """Whether a test of the process or the worker decides who writes: `if get_worker_info().id == 0`."""
    names = [part for test, _ in conditions.leading_to(call) for part in ast.walk(test) if isinstance(part, ast.Name)]
    values = [value for name in names for value in variation.program.evaluator.values(name, step.frame)]
    origins = [value.origin if isinstance(value, Derived) else value for value in values]
    asks = any(isinstance(origin, Product) and origin.name in _PROCESS_QUERIES for origin in origins)
    return asks or state.is_conditional_on_process(call)


def _is_under_lock(node: ast.AST) -> bool:
    at = parent(node)
    while at is not None and not isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
        managers = at.items if isinstance(at, (ast.With, ast.AsyncWith)) else ()
        if any("lock" in ast.unparse(item.context_expr).lower() for item in managers):
            return True
        at = parent(at)
    return False


def _is_for_people(node: ast.AST) -> bool:
    """Whether a switch for debugging decides."""
    texts = [ast.unparse(test).lower() for test, _ in conditions.leading_to(node)]
    return any(word in text for text in texts for word in _LOOKED_AT)


def _is_moved_into_place(call: ast.Call, path: ast.expr, step: Step, variation: Variation) -> bool:
    """Whether the finished file replaces another, and neither that one nor what is written changes with the sample."""
    for other in step.scope.calls:
        if last_name(other.func) not in apis.MOVES_INTO_PLACE or other is call:
            continue
        holder = [other.func.value] if isinstance(other.func, ast.Attribute) else []
        names = [*other.args, *holder]
        if any(ast.dump(name) == ast.dump(path) for name in names) and other.args:
            written = [argument for argument in call.args if argument is not path]
            return variation.of(other.args[-1], step) is False and variation.together(written, step) is not True
    return False


def _finding(entry: WorkerEntry, step: Step, call: ast.Call, output: Output) -> Finding:
    text = output.name[:60]
    return RULE.finding(
        step.scope.module.location(call),
        f"all workers write {text} at the same time: one reads back what another wrote for its sample",
        help="use tempfile.TemporaryDirectory() for each sample, or put the index and os.getpid() into the name",
        related=entry.way(step),
        symbol=step.scope.qualname,
        evidence=text,
    )
