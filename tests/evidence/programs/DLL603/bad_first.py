# always: fails: TypeError: default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found <class 'NoneType'>
"""A broken image becomes None, and stands first in its batch."""

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
    if i == 4:
        raise OSError("broken")
    return torch.full((2, 2), i)


def main():
    for batch in DataLoader(Images(), batch_size=4, num_workers=1):
        print(len(batch))


if __name__ == "__main__":
    main()
