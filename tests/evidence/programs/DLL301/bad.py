# under spawn: fails: of its own
"""The dataset reads all of its files, and each spawned worker gets a copy of them."""

import numpy as np
from measure import private_mb, workers
from torch.utils.data import DataLoader, Dataset


class Volumes(Dataset):
    def __init__(self, paths):
        self.volumes = [np.load(path) for path in paths]

    def __len__(self):
        return len(self.volumes)

    def __getitem__(self, i):
        return self.volumes[i].mean()


def main():
    own = private_mb()
    paths = [f"{i}.npy" for i in range(100)]
    for path in paths:
        np.save(path, np.ones(500_000))
    for _ in DataLoader(Volumes(paths), num_workers=1):
        (worker,) = workers()
        if private_mb(worker) > own + 100:
            raise SystemExit(f"a worker has {private_mb(worker)} MB of its own, where main began with {own}")


if __name__ == "__main__":
    main()
