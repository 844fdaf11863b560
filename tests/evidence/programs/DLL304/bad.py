# under fork spawn: fails: of its own after two epochs
# needs: numpy
"""Persistent workers keep every item that they have read."""

import numpy as np
from measure import private_mb, workers
from torch.utils.data import DataLoader, Dataset


class Volumes(Dataset):
    def __init__(self, paths):
        self.paths = paths
        self.cache = {}

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        if i not in self.cache:
            self.cache[i] = np.load(self.paths[i])
        return self.cache[i].mean()


def main():
    own = private_mb()
    paths = [f"{i}.npy" for i in range(100)]
    for path in paths:
        np.save(path, np.ones(500_000))
    loader = DataLoader(Volumes(paths), num_workers=1, persistent_workers=True)
    for _ in range(2):
        for mean in loader:
            print(mean)
    (worker,) = workers()
    if private_mb(worker) > own + 100:
        raise SystemExit(
            f"a worker has {private_mb(worker)} MB of its own after two epochs, where main began with {own}"
        )


if __name__ == "__main__":
    main()
