# always: fails: the order stays as it was
"""A loader is told to shuffle when it is made."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    loader = DataLoader(TensorDataset(torch.arange(1000)))
    loader.shuffle = True
    order = [int(number) for (number,) in loader]
    if order == list(range(1000)):
        raise SystemExit("the order stays as it was")


if __name__ == "__main__":
    main()
