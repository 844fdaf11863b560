# always: fails: TypeError: '...' not supported between instances of 'NoneType' and 'int'
"""A loader without workers gets some."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    loader = DataLoader(TensorDataset(torch.arange(8)), batch_size=2)
    loader.num_workers = 1
    print(len(list(loader)))


if __name__ == "__main__":
    main()
