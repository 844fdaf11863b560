# under spawn: fails: Too many open files
# nofile: 256
"""The strategy is set in main, which spawned workers do not run."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.multiprocessing.set_sharing_strategy("file_system")
    data = TensorDataset(torch.arange(600))
    print(len(list(DataLoader(data, batch_size=2, num_workers=1, multiprocessing_context="spawn"))))


if __name__ == "__main__":
    main()
