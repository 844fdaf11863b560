# under fork: runs
# needs: polars
"""Main asks for everything before the workers start."""

import polars as pl
from torch.utils.data import DataLoader, Dataset


class Events(Dataset):
    def __init__(self):
        events = pl.DataFrame({"user": [i % 64 for i in range(50_000)], "time": range(50_000)}).sort("user")
        self.counts = [part.height for part in events.partition_by("user")]

    def __len__(self):
        return 8

    def __getitem__(self, user):
        return self.counts[user]


def main():
    for count in DataLoader(Events(), num_workers=1):
        print(count)


if __name__ == "__main__":
    main()
