"""A new loader takes the place of the old one."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    data = TensorDataset(torch.arange(8))
    print(len(DataLoader(data, batch_size=2)))
    print(len(list(DataLoader(data, batch_size=4, num_workers=1))))


if __name__ == "__main__":
    main()
