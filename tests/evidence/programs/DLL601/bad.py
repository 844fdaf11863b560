# always: fails: instead of each number once
"""Each worker passes on all of the data."""

from torch.utils.data import DataLoader, IterableDataset


class Numbers(IterableDataset):
    def __iter__(self):
        yield from range(8)


def main():
    numbers = sorted(int(number) for number in DataLoader(Numbers(), num_workers=2))
    if numbers != list(range(8)):
        raise SystemExit(f"{numbers} instead of each number once")


if __name__ == "__main__":
    main()
