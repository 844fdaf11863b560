# always: fails: AttributeError: 'NoneType' object has no attribute 'numel'
"""A broken image becomes None."""

import torch
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        try:
            return read(i)
        except OSError:
            return None


def read(i):
    if i == 5:
        raise OSError("broken")
    return torch.full((2, 2), i)


def main():
    for batch in DataLoader(Images(), batch_size=4, num_workers=1):
        print(len(batch))


if __name__ == "__main__":
    main()
