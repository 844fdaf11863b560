# under fork: runs
# under forkserver: fails: ValueError: too many fds
"""A tensor for each sample, and each with a descriptor."""

import torch
from torch.utils.data import DataLoader, Dataset


class Curves(Dataset):
    def __init__(self, total):
        self.curves = [torch.tensor([i]) for i in range(total)]

    def __len__(self):
        return len(self.curves)

    def __getitem__(self, i):
        return self.curves[i]


def main():
    for batch in DataLoader(Curves(300), batch_size=100, num_workers=1):
        print(batch.sum())


if __name__ == "__main__":
    main()
