# under fork spawn: fails: the same numbers in both workers and in both epochs
"""A kept method of a generator carries the generator into each worker."""

import random

from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __init__(self):
        self.draw = random.Random(0).randrange

    def __len__(self):
        return 4

    def __getitem__(self, i):
        return self.draw(1_000_000)


def main():
    loader = DataLoader(Noise(), batch_size=2, num_workers=2)
    drawn = [batch.tolist() for _ in range(2) for batch in loader]
    if drawn == drawn[:1] * 4:
        raise SystemExit(f"the same numbers in both workers and in both epochs: {drawn}")


if __name__ == "__main__":
    main()
