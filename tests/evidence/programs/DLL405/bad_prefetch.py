# always: fails: AssertionError: prefetch_factor must be greater than 0 | assert self._prefetch_factor > 0
"""Workers that load nothing ahead: refused at the first batch."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def main(workers=0):
    data = TensorDataset(torch.arange(8))
    for batch in DataLoader(data, num_workers=1, prefetch_factor=0):
        print(batch)


if __name__ == "__main__":
    main()
