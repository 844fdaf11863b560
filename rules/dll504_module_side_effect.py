"""DLL504 module-side-effect

## What it does

Reports a script that opens a file for writing, deletes, downloads or logs in at module level, outside of
`if __name__ == "__main__":`, and whose loader starts workers that may be spawned. Opt-in.

## Why it breaks workers

Under spawn and forkserver each worker imports the script again and does it all once more: a log file is emptied while
main writes to it, an archive is downloaded eight times to one path, a run is registered for each worker.

## Example

```python
import torch
from torch.utils.data import DataLoader, TensorDataset

journal = open("journal.txt", "w")


def main():
    for batch in DataLoader(TensorDataset(torch.rand(64, 2)), num_workers=2):
        journal.write(f"{batch}")


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    with open("journal.txt", "w") as journal:
        for batch in DataLoader(TensorDataset(torch.rand(64, 2)), num_workers=2):
            journal.write(f"{batch}")


if __name__ == "__main__":
    main()
```

## When to ignore

When doing it again does no harm, or workers are only ever forked.

## References

- https://docs.python.org/3/library/multiprocessing.html#the-spawn-and-forkserver-start-methods
- https://github.com/pytorch/pytorch/issues/57430
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.processes import side_effects
from dllint.code.processes.scripts import Script
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL504",
    name="module-side-effect",
    severity=Severity.WARNING,
    failure=Failure.START_UP,
    since="0.1",
    basis=proven("spawn", "forkserver"),
    opt_in=True,
)


@RULE.check
def module_side_effect(script: Script) -> Iterator[Finding]:
    """Yield what each spawned worker does again while it imports the script."""
    loader = side_effects.spawning_loader(script)
    if loader is None:
        return
    for effect, what in side_effects.at_import(script):
        yield RULE.finding(
            effect.frame.scope.module.location(effect.node),
            f"the script {what} at module level: each spawned worker imports the script and does that again",
            help='move it into a function that is called under `if __name__ == "__main__":`',
            related=[*effect.way, loader.related()],
            symbol=effect.frame.scope.qualname,
            evidence=what,
        )
