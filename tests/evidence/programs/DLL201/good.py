"""Each process opens the file for itself."""

import gzip
import os

from torch.utils.data import DataLoader, Dataset

SIZE, TOTAL = 64, 2000


class Records(Dataset):
    def __init__(self, path):
        self.path = path
        self.file, self.pid = None, None

    def __len__(self):
        return TOTAL

    def __getitem__(self, i):
        if self.pid != os.getpid():
            self.file, self.pid = gzip.open(self.path, "rb"), os.getpid()
        self.file.seek(i * SIZE)
        return int(self.file.read(SIZE) == b"%064d" % i)


def main():
    with gzip.open("records.gz", "wb") as file:
        for i in range(TOTAL):
            file.write(b"%064d" % i)
    right = sum(int(batch.sum()) for batch in DataLoader(Records("records.gz"), batch_size=50, num_workers=2))
    if right < TOTAL:
        raise SystemExit(f"{TOTAL - right} of {TOTAL} records came from wrong places")


if __name__ == "__main__":
    main()
