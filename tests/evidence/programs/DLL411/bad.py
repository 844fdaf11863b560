# always: fails: unable to allocate shared memory(shm) ... No space left on device | killed by signal: Bus error
# shm: 24m
"""Main is slow, and 16 workers load 32 batches of 64 KB each ahead: 33 MB."""

import time

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    for (batch,) in DataLoader(
        TensorDataset(torch.zeros(20_000, 512)), batch_size=32, num_workers=16, prefetch_factor=32
    ):
        time.sleep(0.01)
        print(batch.sum())


if __name__ == "__main__":
    main()
