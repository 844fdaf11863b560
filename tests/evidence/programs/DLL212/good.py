# nofile: 1024
"""One tensor holds all points of a batch."""

import torch
from torch.utils.data import DataLoader, Dataset


class Points(Dataset):
    def __len__(self):
        return 2048

    def __getitem__(self, i):
        return torch.rand(i % 7 + 1, 3)


def packed(batch):
    return torch.cat(batch), torch.tensor([len(points) for points in batch])


def main():
    for batch in DataLoader(Points(), batch_size=1024, num_workers=1, collate_fn=packed):
        print(len(batch))


if __name__ == "__main__":
    main()
