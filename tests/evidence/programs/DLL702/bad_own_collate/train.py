# always: hangs: in _feed ... unable to allocate shared memory(shm)
# shm: 64m
"""Six batches of 37 MB want to lie in 64 MB: they do not fit when they are sent."""

import torch
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __len__(self):
        return 256

    def __getitem__(self, i):
        return torch.ones(3, 224, 224)


def main():
    for batch in DataLoader(Images(), batch_size=64, num_workers=2, collate_fn=torch.stack):
        print(batch.mean())


if __name__ == "__main__":
    main()
