"""Partials that are bound to what they were before: in a loop, by a function that calls itself, on an object."""

from functools import partial, partialmethod

from torch.utils.data import DataLoader, Dataset


def wrap(batch, inner=None):
    return inner(batch) if inner else batch


def build(depth):
    return partial(wrap, inner=build(depth - 1)) if depth else wrap


class Data(Dataset):
    def __init__(self):
        self.collate = partial(wrap, inner=self.collate)
        self.start = partialmethod(wrap, self.start)

    def __getitem__(self, i):
        return self.collate(self.start)


chained = wrap
for _ in range(3):
    chained = partial(wrap, chained, inner=partial(chained, inner=chained))

for _ in DataLoader(Data(), num_workers=2, collate_fn=chained, worker_init_fn=build(3)):
    pass
for _ in DataLoader([1], num_workers=2, collate_fn=Data().collate, worker_init_fn=Data().start):
    pass
