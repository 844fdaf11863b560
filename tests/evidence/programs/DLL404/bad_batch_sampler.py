# always: fails: ValueError: batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last
"""Two things make the batches."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def main(workers=0):
    data = TensorDataset(torch.arange(8))
    for batch in DataLoader(data, batch_size=4, batch_sampler=[[0, 1], [2, 3]]):
        print(batch)


if __name__ == "__main__":
    main()
