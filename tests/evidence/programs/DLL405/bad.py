# always: fails: ValueError: num_workers option should be non-negative
"""No loader has fewer than no workers."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def main(workers=0):
    data = TensorDataset(torch.arange(8))
    for batch in DataLoader(data, num_workers=-1):
        print(batch)


if __name__ == "__main__":
    main()
