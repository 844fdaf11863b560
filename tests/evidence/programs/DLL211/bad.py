# under fork: fails: records came from wrong places
# under spawn forkserver: fails: TypeError: cannot pickle '_io.BufferedReader' object
# needs: numpy
"""Main looks at a record, so that the file is open when the workers start."""

import numpy as np
from torch.utils.data import DataLoader, Dataset

TOTAL = 30_000


class Records(Dataset):
    def __init__(self, path):
        self.path, self.file = path, None

    def __len__(self):
        return TOTAL

    def __getitem__(self, i):
        if self.file is None:
            self.file = open(self.path, "rb")
        self.file.seek(i * 512)
        return int((np.fromfile(self.file, np.int64, 64) == i).all())


def main():
    np.arange(TOTAL).repeat(64).tofile("records.bin")
    records = Records("records.bin")
    print("first", records[0])
    right = sum(int(batch.sum()) for batch in DataLoader(records, batch_size=50, num_workers=8))
    if right < TOTAL:
        raise SystemExit(f"{TOTAL - right} of {TOTAL} records came from wrong places")


if __name__ == "__main__":
    main()
