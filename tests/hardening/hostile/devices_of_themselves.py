"""Devices that are made of themselves, and batches that go there and are kept."""

import torch
from torch.utils.data import DataLoader

device = torch.device(device)
one = torch.device(other)
other = torch.device(one)


def keep(dataset):
    kept = []
    for batch in DataLoader(dataset, num_workers=8):
        kept.append(batch.to(device))
        kept.append(batch.to(other))
    return kept


everything = []
for batch in DataLoader([torch.ones(1)], num_workers=8):
    everything.append(batch.to(device))
    everything.append(batch.to(device=one))
