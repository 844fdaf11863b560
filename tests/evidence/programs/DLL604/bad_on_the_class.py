# always: fails: samples were counted
"""Workers count on their own copies of the class."""

import torch
from torch.utils.data import DataLoader, Dataset


class Points(Dataset):
    count = 0

    def __len__(self):
        return 8

    def __getitem__(self, i):
        Points.count += 1
        return torch.zeros(1)


def main():
    for _ in DataLoader(Points(), num_workers=2):
        pass
    if Points.count < 8:
        raise SystemExit(f"only {Points.count} samples were counted")


if __name__ == "__main__":
    main()
