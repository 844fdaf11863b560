"""The collate function leaves broken images out, and survives a batch of them."""

import torch
from torch.utils.data import DataLoader, Dataset, default_collate


class Images(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        try:
            return read(i)
        except OSError:
            return None


def read(i):
    if i >= 4:
        raise OSError("broken")
    return torch.full((2, 2), i)


def without_broken(batch):
    batch = [image for image in batch if image is not None]
    return default_collate(batch) if batch else []


def main():
    for batch in DataLoader(Images(), batch_size=4, num_workers=1, collate_fn=without_broken):
        print(len(batch))


if __name__ == "__main__":
    main()
