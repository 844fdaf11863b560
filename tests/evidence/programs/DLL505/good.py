"""The value is made in the context of the workers."""

import multiprocessing

from torch.utils.data import DataLoader, Dataset


class Staged(Dataset):
    def __init__(self):
        self.stage = multiprocessing.get_context("spawn").Value("i", 1)

    def __len__(self):
        return 4

    def __getitem__(self, i):
        return i * self.stage.value


def main():
    for batch in DataLoader(Staged(), num_workers=1, multiprocessing_context="spawn"):
        print(batch)


if __name__ == "__main__":
    main()
