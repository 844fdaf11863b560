# always: fails: instead of each number once
"""`__init__` asks for the worker in main, where there is none."""

from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Numbers(IterableDataset):
    def __init__(self):
        info = get_worker_info()
        numbers = [0, 1, 2, 3, 4, 5, 6, 7]
        self.numbers = numbers if info is None else numbers[info.id :: info.num_workers]

    def __iter__(self):
        yield from self.numbers


def main():
    numbers = sorted(int(number) for number in DataLoader(Numbers(), num_workers=2))
    if numbers != list(range(8)):
        raise SystemExit(f"{numbers} instead of each number once")


if __name__ == "__main__":
    main()
