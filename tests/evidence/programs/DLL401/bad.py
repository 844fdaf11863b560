# always: fails: ValueError: persistent_workers option needs num_workers > 0
"""The workers are turned off, their option is not."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def main(workers=0):
    data = TensorDataset(torch.arange(8))
    for batch in DataLoader(data, num_workers=0, persistent_workers=True):
        print(batch)


if __name__ == "__main__":
    main()
