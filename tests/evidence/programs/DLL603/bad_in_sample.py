# always: fails: <class 'NoneType'> | Could not infer dtype of NoneType
"""A broken image becomes None beside its number."""

import torch
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        try:
            return i, read(i)
        except OSError:
            return i, None


def read(i):
    if i == 4:
        raise OSError("broken")
    return torch.full((2, 2), i)


def main():
    for batch in DataLoader(Images(), batch_size=4, num_workers=1):
        print(batch)


if __name__ == "__main__":
    main()
