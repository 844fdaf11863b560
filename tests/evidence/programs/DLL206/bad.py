# always: fails: RuntimeError: Too many open files. Communication with the workers is no longer possible
# nofile: 256
"""Main keeps the labels of all batches."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    data = TensorDataset(torch.rand(2000, 4), torch.arange(2000))
    labels = []
    for _, y in DataLoader(data, batch_size=4, num_workers=2):
        labels.append(y)
    print(torch.cat(labels).sum())


if __name__ == "__main__":
    main()
