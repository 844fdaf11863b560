# under fork: runs
"""Each worker opens the records under the global name itself."""

import gzip

from torch.utils.data import DataLoader, Dataset

SIZE, TOTAL = 64, 2000
records = None


def open_records(worker_id):
    global records
    records = gzip.open("records.gz", "rb")


class Records(Dataset):
    def __len__(self):
        return TOTAL

    def __getitem__(self, i):
        records.seek(i * SIZE)
        return int(records.read(SIZE) == b"%064d" % i)


def main():
    with gzip.open("records.gz", "wb") as made:
        for number in range(TOTAL):
            made.write(b"%064d" % number)
    loader = DataLoader(Records(), batch_size=50, num_workers=2, worker_init_fn=open_records)
    right = sum(int(batch.sum()) for batch in loader)
    if right < TOTAL:
        raise SystemExit(f"{TOTAL - right} of {TOTAL} records came from wrong places")


if __name__ == "__main__":
    main()
