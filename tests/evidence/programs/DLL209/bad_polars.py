# under fork: hangs
# under forkserver: runs
# needs: polars
"""Forked workers ask a table that main has sorted with threads."""

import polars as pl
from torch.utils.data import DataLoader, Dataset


class Events(Dataset):
    def __init__(self):
        self.events = pl.DataFrame({"user": [i % 64 for i in range(50_000)], "time": range(50_000)}).sort("user")

    def __len__(self):
        return 8

    def __getitem__(self, user):
        return self.events.filter(pl.col("user") == user).height


def main():
    for count in DataLoader(Events(), num_workers=1):
        print(count)


if __name__ == "__main__":
    main()
