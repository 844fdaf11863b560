# always: fails: ValueError: batch_size should be a positive integer value, but got batch_size=0
"""No batch is empty."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def main(workers=0):
    data = TensorDataset(torch.arange(8))
    for batch in DataLoader(data, batch_size=0):
        print(batch)


if __name__ == "__main__":
    main()
