"""As many workers as this process may use processors."""

import os
import warnings

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    warnings.simplefilter("error")
    for batch in DataLoader(TensorDataset(torch.arange(8)), num_workers=len(os.sched_getaffinity(0))):
        print(batch)


if __name__ == "__main__":
    main()
