# under fork: fails: records came from wrong places
# under spawn forkserver: fails: TypeError: cannot pickle
"""Records of a compressed file that the dataset keeps open."""

import gzip

from torch.utils.data import DataLoader, Dataset

SIZE, TOTAL = 64, 2000


class Records(Dataset):
    def __init__(self, path):
        self.file = gzip.open(path, "rb")

    def __len__(self):
        return TOTAL

    def __getitem__(self, i):
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
