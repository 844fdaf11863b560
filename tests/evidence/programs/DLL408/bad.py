# under fork spawn forkserver: fails: workers were started
"""Each epoch starts the workers again."""

import os

from torch.utils.data import DataLoader, Dataset


class Pids(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return os.getpid()


def main():
    loader = DataLoader(Pids(), num_workers=1)
    pids = set()
    for _ in range(2):
        for pid in loader:
            pids.add(int(pid))
    if len(pids) > 1:
        raise SystemExit(f"{len(pids)} workers were started for the place of one")


if __name__ == "__main__":
    main()
