# shm: 24m
"""Main is slow, and 16 workers load 2 batches each ahead: 2 MB."""

import time

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    for (batch,) in DataLoader(TensorDataset(torch.zeros(2_000, 512)), batch_size=32, num_workers=16):
        time.sleep(0.01)
        print(batch.sum())


if __name__ == "__main__":
    main()
