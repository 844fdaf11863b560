# always: fails: RuntimeError: Too many open files. Communication with the workers is no longer possible
# nofile: 256
"""Main has all batches at once, by a star; and then in a tuple that grows."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    data = TensorDataset(torch.rand(2000, 4), torch.arange(2000))
    loader = DataLoader(data, batch_size=4, num_workers=2)
    batches = [*loader]
    labels = ()
    for _, y in loader:
        labels += (y,)
    print(len(batches), torch.cat(labels).sum())


if __name__ == "__main__":
    main()
