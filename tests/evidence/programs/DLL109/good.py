"""No gradient is kept."""

import torch
from torch.utils.data import DataLoader, Dataset


class Projected(Dataset):
    def __init__(self):
        self.project = torch.nn.Linear(8, 4)

    def __len__(self):
        return 8

    @torch.no_grad()
    def __getitem__(self, i):
        return self.project(torch.full((8,), float(i)))


def main():
    for batch in DataLoader(Projected(), batch_size=4, num_workers=2, collate_fn=list):
        print(batch)


if __name__ == "__main__":
    main()
