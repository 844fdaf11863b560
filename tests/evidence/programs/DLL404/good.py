"""The sampler alone gives the order."""

import torch
from torch.utils.data import DataLoader, RandomSampler, TensorDataset


def main(workers=0):
    data = TensorDataset(torch.arange(8))
    for batch in DataLoader(data, sampler=RandomSampler(data)):
        print(batch)


if __name__ == "__main__":
    main()
