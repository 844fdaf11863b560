# needs: h5py
"""Each process opens the file on first use."""

import os

import h5py
from torch.utils.data import DataLoader, Dataset


class Volumes(Dataset):
    def __init__(self, path, total):
        self.path, self.total = path, total
        self.volumes, self.pid = None, None

    def __len__(self):
        return self.total

    def __getitem__(self, i):
        if self.pid != os.getpid():
            self.volumes, self.pid = h5py.File(self.path, "r")["volumes"], os.getpid()
        return int(self.volumes[i])


def main():
    with h5py.File("volumes.h5", "w") as file:
        file["volumes"] = range(64)
    read = [int(volume) for volume in DataLoader(Volumes("volumes.h5", 64), num_workers=1)]
    if read != list(range(64)):
        raise SystemExit(f"wrong volumes: {read}")


if __name__ == "__main__":
    main()
