# under fork: fails: Too many open files
# nofile: 256
"""The strategy changes when the workers are running."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    loader = DataLoader(TensorDataset(torch.arange(600)), batch_size=2, num_workers=1, persistent_workers=True)
    print(len([None for _ in loader]))
    torch.multiprocessing.set_sharing_strategy("file_system")
    print(len(list(loader)))


if __name__ == "__main__":
    main()
