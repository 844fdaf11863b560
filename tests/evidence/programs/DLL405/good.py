"""Numbers as they should be."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def main(workers=0):
    data = TensorDataset(torch.arange(8))
    for batch in DataLoader(data, batch_size=4, num_workers=2 // 2, prefetch_factor=1):
        print(batch)


if __name__ == "__main__":
    main()
