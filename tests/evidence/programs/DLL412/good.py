"""A shared tensor holds the epoch."""

import torch
from torch.utils.data import DataLoader, Dataset


class Epochs(Dataset):
    def __init__(self):
        self.epoch = torch.zeros((), dtype=torch.int64).share_memory_()

    def __len__(self):
        return 1

    def __getitem__(self, i):
        return int(self.epoch)


def main():
    data = Epochs()
    loader = DataLoader(data, num_workers=1, persistent_workers=True)
    seen = []
    for epoch in range(3):
        data.epoch.fill_(epoch)
        seen += [int(batch) for batch in loader]
    if seen != [0, 1, 2]:
        raise SystemExit(f"workers saw epochs {seen}")


if __name__ == "__main__":
    main()
