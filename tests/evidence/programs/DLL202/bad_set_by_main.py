# under fork: fails: records came from wrong places
"""Records of a compressed file that main opens, under a global name."""

import gzip

from torch.utils.data import DataLoader, Dataset

SIZE, TOTAL = 64, 2000
records = None


def open_records():
    global records
    with gzip.open("records.gz", "wb") as made:
        for number in range(TOTAL):
            made.write(b"%064d" % number)
    records = gzip.open("records.gz", "rb")


class Records(Dataset):
    def __len__(self):
        return TOTAL

    def __getitem__(self, i):
        records.seek(i * SIZE)
        return int(records.read(SIZE) == b"%064d" % i)


def main():
    open_records()
    right = sum(int(batch.sum()) for batch in DataLoader(Records(), batch_size=50, num_workers=2))
    if right < TOTAL:
        raise SystemExit(f"{TOTAL - right} of {TOTAL} records came from wrong places")


if __name__ == "__main__":
    main()
