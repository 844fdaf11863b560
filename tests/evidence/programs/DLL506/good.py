# under fork spawn: fails: BadRowError: Caught BadRowError in DataLoader worker process 0
"""The exception arrives."""

from torch.utils.data import DataLoader, Dataset


class BadRowError(Exception):
    pass


class Rows(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        if i == 2:
            raise BadRowError(i)
        return i


def main():
    for batch in DataLoader(Rows(), num_workers=1):
        print(batch)


if __name__ == "__main__":
    main()
