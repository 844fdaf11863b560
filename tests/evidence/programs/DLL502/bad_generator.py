# under fork: runs
# under spawn forkserver: fails: unable to resize file <filename not specified> to the right size
"""A generator of torch on the dataset: it is refused where the worker unpacks it."""

import torch
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __init__(self):
        self.generator = torch.Generator()

    def __len__(self):
        return 4

    def __getitem__(self, i):
        return torch.rand(2, generator=self.generator.manual_seed(i))


def main():
    for batch in DataLoader(Noise(), num_workers=1):
        print(batch)


if __name__ == "__main__":
    main()
