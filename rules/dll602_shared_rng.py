"""DLL602 shared-rng

## What it does

Reports random numbers that are the same in every worker, or in every epoch: a generator object (`default_rng`,
`RandomState`, `random.Random`, `torch.Generator`) that is made in `__init__` or at module level and drawn from in a
worker; a `worker_init_fn` that seeds a constant, or a constant plus the worker's number; a dataset that seeds with the
worker's number; the global `np.random` where the project pins torch below 1.9. The global generators of `random`, torch
and (from torch 1.9) numpy are seeded for each worker and epoch, and are fine.

## Why it breaks workers

Each worker starts with a copy of the generator in the same state. All of them draw equal numbers, so that samples are
augmented alike, and without `persistent_workers` each epoch draws what the one before drew (torch 2.13, fork and
spawn). Nothing fails; the model just sees less than it should.

## Example

```python
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Jittered(Dataset):
    def __init__(self, rows, seed=0):
        self.rows = rows
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i] + self.rng.normal()


def load(rows):
    return DataLoader(Jittered(rows), num_workers=4, shuffle=True)
```

## Use instead

```python
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Jittered(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.rng = None

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        if self.rng is None:
            self.rng = np.random.default_rng(torch.initial_seed())
        return self.rows[i] + self.rng.normal()


def load(rows):
    return DataLoader(Jittered(rows), num_workers=4, shuffle=True)
```

## When to ignore

When the same numbers are wanted in every worker and epoch, as for a validation set that is augmented once and for all.

## References

- https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader
- https://docs.pytorch.org/docs/stable/data.html#randomness-in-multi-process-data-loading
- https://github.com/pytorch/pytorch/issues/5059 and https://github.com/pytorch/pytorch/pull/56488 (numpy, torch 1.9)
- https://github.com/TorchDSP/torchsig/issues/343
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.basis import proven
from dllint.code.facts import WorkerEntry
from dllint.code.loaders.loader import Loader
from dllint.code.workers import randomness, seeded_draws, seeding
from dllint.code.workers.randomness import SharedGenerator
from dllint.code.workers.seeding import ConstantSeed
from dllint.finding import Failure, Finding, Related, Severity
from dllint.rule import Rule

RULE = Rule(
    code="DLL602",
    name="shared-rng",
    severity=Severity.ERROR,
    failure=Failure.WRONG_SAMPLES,
    since="0.1",
    basis=proven("fork", "spawn"),
)

_LATER = "make it on first use in the worker, seeded from torch.initial_seed(), or draw from torch's own generator"


@RULE.check
def shared_rng(entry: WorkerEntry) -> Iterator[Finding]:
    """Yield what makes the workers of one entry, or its epochs, draw equal numbers."""
    if not entry.start_methods or not entry.may_have_readers:
        return
    effect = _effect(entry)
    if effect:
        yield from (_of_generator(entry, found, effect) for found in randomness.shared(entry))
    yield from _of_seeds(entry)
    yield from _of_old_numpy(entry)


def _effect(entry: WorkerEntry) -> str:
    """What comes of a generator that all workers have in one state; an empty string if nothing does."""
    parts = []
    if not entry.loaders or any(loader.workers.constants() != [1] for loader in entry.loaders):
        parts.append("all workers draw the same numbers")
    if not entry.loaders or any(seeding.repeats(loader) for loader in entry.loaders):
        parts.append("each epoch repeats them" if parts else "each epoch draws the same numbers")
    return ", and ".join(parts)


def _of_generator(entry: WorkerEntry, found: SharedGenerator, effect: str) -> Finding:
    made, item = found.made, found.item
    kept = [Related(f"kept as {item.path}", item.frame.scope.module.location(item.write.node))] if item else []
    return RULE.finding(
        found.location,
        f"{made.name}() is made before the workers start, and each of them has a copy in the same state: {effect}",
        help=_LATER,
        related=[
            *kept,
            *entry.way(found.step),
            Related("drawn from in a worker here", found.step.scope.module.location(found.draw)),
        ],
        symbol=made.frame.scope.qualname,
        evidence=item.path if item else made.name,
    )


def _matters(loaders: list[Loader], found: ConstantSeed) -> bool:
    """Whether a constant seed makes two epochs of training, or two workers, alike."""
    training = [loader for loader in loaders if not seeding.is_for_evaluation(loader)]
    several = any(loader.workers.constants() != [1] for loader in training)
    return any(seeding.repeats(loader) for loader in training) or (several and not found.by_worker)


def _of_seeds(entry: WorkerEntry) -> Iterator[Finding]:
    for found, loaders in seeded_draws.constant_seeds(entry):
        if _matters(loaders, found):
            yield _of_seed(found, loaders)


def _of_seed(found: ConstantSeed, loaders: list[Loader]) -> Finding:
    alike = "in every epoch" if found.by_worker else "in every worker and every epoch"
    how = "are started with" if found.step.root.label == "worker_init_fn" else "set themselves"
    best = min(loaders, key=lambda loader: not loader.has_workers)
    return RULE.finding(
        found.step.scope.module.location(found.call),
        f"workers {how} a constant seed: they draw the same numbers {alike}",
        help="seed from torch.initial_seed() % 2**32, which differs by worker and by epoch, and repeats with the run",
        related=[best.related(), *found.step.way()],
        symbol=found.step.scope.qualname,
        evidence="seed",
    )


def _of_old_numpy(entry: WorkerEntry) -> Iterator[Finding]:
    """Below torch 1.9 nothing seeds numpy in the workers."""
    module = entry.dataset.module if entry.dataset is not None else entry.loaders[0].module
    if not entry.program.pins_of(module).torch_is_below((1, 9)):
        return
    found = randomness.global_numpy_draw(entry)
    if found is None:
        return
    step, call = found
    yield RULE.finding(
        step.scope.module.location(call),
        "np.random is in the same state in all workers (this project pins torch below 1.9): they draw the same numbers",
        help="torch >= 1.9, or worker_init_fn: np.random.seed(torch.initial_seed() % 2**32)",
        related=entry.way(step),
        symbol=step.scope.qualname,
        evidence="np.random",
    )
