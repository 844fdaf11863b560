# always: fails: unable to allocate shared memory(shm) ... No space left on device | killed by signal: Bus error
# shm: 128m
"""Main is slow, and six batches of 37 MB want to lie in 128 MB."""

import time

import torch
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __len__(self):
        return 384

    def __getitem__(self, i):
        return torch.ones(3, 224, 224)


def main():
    for batch in DataLoader(Images(), batch_size=64, num_workers=2):
        time.sleep(1)
        print(batch.mean())


if __name__ == "__main__":
    main()
