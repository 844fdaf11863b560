# always: fails: AssertionError: invalid sharing strategy 'file', expected one of
"""There is no such strategy."""

import torch
from torch.utils.data import DataLoader, TensorDataset

torch.multiprocessing.set_sharing_strategy("file")


def main():
    print(len(list(DataLoader(TensorDataset(torch.arange(600)), num_workers=1))))


if __name__ == "__main__":
    main()
