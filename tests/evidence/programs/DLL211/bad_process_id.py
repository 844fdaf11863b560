# under spawn: fails: TypeError: cannot pickle '_io.BufferedReader' object
"""Each process opens its own file; what main has opened goes with the dataset all the same."""

import os

import torch
from torch.utils.data import DataLoader, Dataset


class Records(Dataset):
    def __init__(self):
        self.file, self.pid = None, None

    def __len__(self):
        return 4

    def __getitem__(self, i):
        if self.pid != os.getpid():
            self.file, self.pid = open(__file__, "rb"), os.getpid()
        self.file.seek(i)
        return torch.tensor(list(self.file.read(2)))


def main():
    records = Records()
    print(records[0])
    for values in DataLoader(records, num_workers=1, multiprocessing_context="spawn"):
        print(values)


if __name__ == "__main__":
    main()
