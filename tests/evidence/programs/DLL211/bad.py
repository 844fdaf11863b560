# under fork: fails: records came from wrong places
# under spawn forkserver: fails: TypeError: cannot pickle
"""Main looks at a record, so that the file is open when the workers start."""

import gzip

from torch.utils.data import DataLoader, Dataset

SIZE, TOTAL = 64, 2000


class Records(Dataset):
    def __init__(self, path):
        self.path, self.file = path, None

    def __len__(self):
        return TOTAL

    def __getitem__(self, i):
        if self.file is None:
            self.file = gzip.open(self.path, "rb")
        self.file.seek(i * SIZE)
        return int(self.file.read(SIZE) == b"%064d" % i)


def main():
    with gzip.open("records.gz", "wb") as file:
        for i in range(TOTAL):
            file.write(b"%064d" % i)
    records = Records("records.gz")
    print("first", records[0])
    right = sum(int(batch.sum()) for batch in DataLoader(records, batch_size=50, num_workers=2))
    if right < TOTAL:
        raise SystemExit(f"{TOTAL - right} of {TOTAL} records came from wrong places")


if __name__ == "__main__":
    main()
