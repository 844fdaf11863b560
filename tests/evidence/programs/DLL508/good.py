# needs: numpy
"""Each worker maps the file."""

import numpy as np
from measure import private_mb, workers
from torch.utils.data import DataLoader, Dataset


class Tokens(Dataset):
    def __init__(self, path, total):
        self.path, self.total = path, total
        self.tokens = None

    def __len__(self):
        return self.total

    def __getitem__(self, i):
        if self.tokens is None:
            self.tokens = np.memmap(self.path, dtype=np.uint16, mode="r")
        return self.tokens[i * 16 : (i + 1) * 16].astype(np.int64)


def main():
    own = private_mb()
    np.memmap("tokens.bin", dtype=np.uint16, mode="w+", shape=(200_000_000,)).flush()
    for _ in DataLoader(Tokens("tokens.bin", 16), num_workers=1):
        (worker,) = workers()
        if private_mb(worker) > own + 100:
            raise SystemExit(f"a worker has {private_mb(worker)} MB of its own, where main began with {own}")


if __name__ == "__main__":
    main()
