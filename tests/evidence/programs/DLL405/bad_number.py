# always: fails: TypeError: 'float' object cannot be interpreted as an integer
"""Half of two workers is 1.0: refused at the first batch."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def main(workers=0):
    data = TensorDataset(torch.arange(8))
    for batch in DataLoader(data, num_workers=2 / 2):
        print(batch)


if __name__ == "__main__":
    main()
