# always: fails: This DataLoader will create 48 worker processes in total. Our suggested max number of worker
"""More workers than this process may use processors; torch warns, and here a warning is an error."""

import warnings

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    warnings.simplefilter("error")
    for batch in DataLoader(TensorDataset(torch.arange(8)), num_workers=48):
        print(batch)


if __name__ == "__main__":
    main()
