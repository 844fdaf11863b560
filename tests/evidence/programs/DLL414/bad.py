# always: fails: ValueError: batch_size attribute should not be set after DataLoader is initialized
"""The batch size of a loader changes."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    loader = DataLoader(TensorDataset(torch.arange(8)), batch_size=2)
    loader.batch_size = 4
    print(len(list(loader)))


if __name__ == "__main__":
    main()
