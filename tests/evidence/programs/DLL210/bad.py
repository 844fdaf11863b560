# always: fails: lmdb.ReadersFullError: mdb_txn_begin: MDB_READERS_FULL: Environment maxreaders limit reached
# needs: lmdb
"""Each worker keeps a transaction open, and with it a slot in the lock file: there are more workers than slots."""

import lmdb
from torch.utils.data import DataLoader, Dataset


class Records(Dataset):
    def __init__(self, path, total):
        self.path, self.total = path, total
        self.env = self.txn = None

    def __len__(self):
        return self.total

    def __getitem__(self, i):
        if self.env is None:
            self.env = lmdb.open(self.path, readonly=True)
            self.txn = self.env.begin()
        return int(self.txn.get(str(i).encode()))


def main():
    with lmdb.open("records") as env, env.begin(write=True) as txn:
        for i in range(260):
            txn.put(str(i).encode(), str(i).encode())
    print(sum(int(record) for record in DataLoader(Records("records", 260), num_workers=130)))


if __name__ == "__main__":
    main()
