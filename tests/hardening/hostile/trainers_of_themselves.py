"""Trainers that are made of trainers, and in the end of themselves: who asks them for workers is told nothing."""

import transformers
from torch.utils.data import DataLoader

trainer = transformers.Trainer(args=trainer)
first = transformers.Trainer(args=second)
second = transformers.Trainer(args=first)


class Run:
    def __init__(self, args):
        self.args = transformers.Trainer(args=self.args)

    def loader(self):
        return DataLoader([1], num_workers=self.args.args.dataloader_num_workers)


for made in (trainer, first, second, Run(second).args):
    for _ in DataLoader([1], num_workers=made, prefetch_factor=2, persistent_workers=True):
        made.train()
Run(first).loader()
DataLoader([1], num_workers=trainer)
DataLoader([1], num_workers=first)
first.train()
