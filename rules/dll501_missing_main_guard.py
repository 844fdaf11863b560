"""DLL501 missing-main-guard

## What it does

Reports a script that starts worker processes at module level, outside of `if __name__ == "__main__":`: a loop over a
loader with workers, directly or in a function called there, `mp.spawn`, `Process.start`. Building a loader at module
level is fine, and so are modules that are only imported, tests, notebooks, and loaders that ask for fork.

## Why it breaks workers

Spawn (Windows, macOS) and forkserver (Linux from Python 3.14) import the script again in each worker, which would
start workers again: `RuntimeError: An attempt has been made to start a new process before the current process has
finished its bootstrapping phase`. The main process only says `DataLoader worker (pid(s) ...) exited unexpectedly`.

## Example

```python
import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.rand(64, 2)), batch_size=8, num_workers=2)
for batch in loader:
    print(batch)
```

## Use instead

```python
import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    loader = DataLoader(TensorDataset(torch.rand(64, 2)), batch_size=8, num_workers=2)
    for batch in loader:
        print(batch)


if __name__ == "__main__":
    main()
```

## When to ignore

When the script runs on Linux with Python up to 3.13 only: set `platforms = ["linux"]` and `target-python`.

## References

- https://docs.python.org/3/library/multiprocessing.html#the-spawn-and-forkserver-start-methods
- https://github.com/pytorch/pytorch/issues/5858
- https://github.com/thuml/Nonstationary_Transformers/issues/16
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.processes import scripts, start_method
from dllint.code.processes.scripts import Script, Start
from dllint.code.workers.reach import Step
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL501",
    name="missing-main-guard",
    severity=Severity.ERROR,
    failure=Failure.START_UP,
    since="0.1",
    basis=proven("spawn", "forkserver"),
)

_PROCESSES = frozenset({"spawn", "start_processes", "Process.start"})


@RULE.check
def missing_main_guard(script: Script) -> Iterator[Finding]:
    """Yield the first place of a script that starts processes outside of the guard."""
    for node, steps, start in script.unguarded():
        if not _may_pickle(script, start):
            continue
        if script.program.is_imported(script.module):
            return
        what = "a process is started" if start.loader is None and start.what in _PROCESSES else "workers are started"
        yield RULE.finding(
            script.module.location(scripts.statement(node)),
            f'{what} at module level without `if __name__ == "__main__":`: '
            "under spawn and forkserver each worker runs the script again and dies",
            help='move it into a function, and call that under `if __name__ == "__main__":`',
            related=list(_way(steps, start)),
            symbol=script.module.name,
            evidence=start.what,
        )
        return


def _may_pickle(script: Script, start: Start) -> bool:
    if start.loader is None:
        methods = start_method.of_scope(script.program, start.scope)
        return start.what == "spawn" or bool(methods & start_method.PICKLING)
    return bool(start_method.of_loader(script.program, start.loader) & start_method.PICKLING)


def _way(steps: list[Step], start: Start) -> Iterator[Related]:
    for step in steps:
        yield Related(f"{step.scope.qualname} is called", step.scope.module.location(step.scope.node))
    if steps:
        yield Related(f"{start.what} here", start.scope.module.location(start.node))
    if start.loader is not None:
        yield start.loader.related()
