"""DLL303 whole-file-read-per-item

## What it does

Reports a `__getitem__` that reads one and the same file whole for each item: an index in JSON, a table in CSV, an array
from which it takes one row. The path is proven to be the same for all items. Files of their own for each item, files
that are read once and kept, mapped or read in part are fine.

## Why it breaks workers

Each sample costs the whole file: 2,000 rows of CSV 231 instead of 3,426 samples a second, JSON 235 instead of 3,802, an
array of 26 MB 651 instead of 3,537. More workers do not help where they wait for the same disk, and the trainer waits
for all of them.

## Example

```python
import json

import torch
from torch.utils.data import Dataset


class Boxes(Dataset):
    def __init__(self, path, total):
        self.path, self.total = path, total

    def __len__(self):
        return self.total

    def __getitem__(self, i):
        with open(self.path) as file:
            annotations = json.load(file)
        return torch.tensor(annotations[i]["bbox"])
```

## Use instead

```python
import json

import torch
from torch.utils.data import Dataset


class Boxes(Dataset):
    def __init__(self, path):
        with open(path) as file:
            annotations = json.load(file)
        self.boxes = torch.tensor([annotation["bbox"] for annotation in annotations])

    def __len__(self):
        return len(self.boxes)

    def __getitem__(self, i):
        return self.boxes[i]
```

## When to ignore

When the file is small, or is written anew while the program runs.

## References

- Measured on torch 2.13 with two workers: samples a second with one read for each item, and with one read at all
- https://docs.pytorch.org/docs/stable/data.html#map-style-datasets
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.facts import WorkerEntry
from dllint.code.language.scopes import dotted, last_name
from dllint.code.workers import rereads
from dllint.finding import Failure, Finding, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL303",
    name="whole-file-read-per-item",
    severity=Severity.WARNING,
    failure=Failure.SLOW,
    since="0.1",
    basis=proven(),
)


@RULE.check
def whole_file_read_per_item(entry: WorkerEntry) -> Iterator[Finding]:
    """Yield the calls that read the same file whole for each item of a dataset."""
    if entry.dataset is None:
        return
    for step, call in rereads.of_entry(entry):
        yield RULE.finding(
            step.scope.module.location(call),
            f"{dotted(call.func) or last_name(call)}() reads the same file whole for each item",
            help="read it once, in __init__ or on first use in the worker, and keep arrays of what is needed",
            related=entry.way(step),
            symbol=step.scope.qualname,
            evidence=last_name(call),
        )
