# always: fails: ValueError: sampler option is mutually exclusive with shuffle
"""Two things give the order."""

import torch
from torch.utils.data import DataLoader, RandomSampler, TensorDataset


def main(workers=0):
    data = TensorDataset(torch.arange(8))
    for batch in DataLoader(data, sampler=RandomSampler(data), shuffle=True):
        print(batch)


if __name__ == "__main__":
    main()
