# under fork spawn: hangs: in _feed ... Error: Can't ... local object
"""A worker raises an exception of a class that main cannot import."""

from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        class BadRowError(Exception):
            pass

        if i == 2:
            raise BadRowError(i)
        return i


def main():
    for batch in DataLoader(Rows(), num_workers=1):
        print(batch)


if __name__ == "__main__":
    main()
