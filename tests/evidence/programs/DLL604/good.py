"""Workers send what main shall count."""

from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return abs(self.rows[i]), self.rows[i] < 0


def main():
    broken = sum(int(is_broken) for _, is_broken in DataLoader(Rows([1, -2, 3, -4, -5]), num_workers=2))
    if broken < 3:
        raise SystemExit(f"{broken} of 3 broken rows were counted")


if __name__ == "__main__":
    main()
