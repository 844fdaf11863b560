# always: fails: 0 of 3 broken rows were counted
"""Workers count in their own copies."""

from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, rows):
        self.rows, self.broken = rows, 0

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        if self.rows[i] < 0:
            self.broken += 1
        return abs(self.rows[i])


def main():
    data = Rows([1, -2, 3, -4, -5])
    print(sum(int(row) for row in DataLoader(data, num_workers=2)))
    if data.broken < 3:
        raise SystemExit(f"{data.broken} of 3 broken rows were counted")


if __name__ == "__main__":
    main()
