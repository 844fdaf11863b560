# always: fails: ValueError: batch_size=None option disables auto-batching and is mutually exclusive with drop_last
"""There is no last batch to drop."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def main(workers=0):
    data = TensorDataset(torch.arange(8))
    for batch in DataLoader(data, batch_size=None, drop_last=True):
        print(batch)


if __name__ == "__main__":
    main()
