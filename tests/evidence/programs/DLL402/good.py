"""The option follows the number of workers."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def main(workers=0):
    data = TensorDataset(torch.arange(8))
    for batch in DataLoader(data, num_workers=workers, prefetch_factor=4 if workers else None):
        print(batch)


if __name__ == "__main__":
    main()
