# under fork: fails: RuntimeError: A SemLock created in a fork context is being shared with a process in a spawn context
"""A value with a lock for forked processes goes to spawned ones."""

import multiprocessing

from torch.utils.data import DataLoader, Dataset


class Staged(Dataset):
    def __init__(self):
        self.stage = multiprocessing.Value("i", 1)

    def __len__(self):
        return 4

    def __getitem__(self, i):
        return i * self.stage.value


def main():
    for batch in DataLoader(Staged(), num_workers=1, multiprocessing_context="spawn"):
        print(batch)


if __name__ == "__main__":
    main()
