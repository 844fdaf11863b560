"""One iterator serves all steps."""

import os

from torch.utils.data import DataLoader, Dataset


class Pids(Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, i):
        return os.getpid()


def main():
    loader = DataLoader(Pids(), num_workers=1)
    batches, pids = iter(loader), set()
    for _ in range(5):
        pids.add(int(next(batches)))
    if len(pids) > 1:
        raise SystemExit(f"{len(pids)} workers were started for the place of one")


if __name__ == "__main__":
    main()
