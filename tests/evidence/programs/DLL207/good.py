# nofile: 256
"""The strategy is set where each process comes by."""

import torch
from torch.utils.data import DataLoader, TensorDataset

torch.multiprocessing.set_sharing_strategy("file_system")


def main():
    print(len(list(DataLoader(TensorDataset(torch.arange(600)), batch_size=2, num_workers=1))))


if __name__ == "__main__":
    main()
