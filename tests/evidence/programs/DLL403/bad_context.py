# always: fails: ValueError: multiprocessing_context can only be used with multi-process loading
"""Nobody is started in this way."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def main(workers=0):
    data = TensorDataset(torch.arange(8))
    for batch in DataLoader(data, num_workers=0, multiprocessing_context="spawn"):
        print(batch)


if __name__ == "__main__":
    main()
