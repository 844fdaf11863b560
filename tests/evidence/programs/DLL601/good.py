"""Each worker has its share."""

from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Numbers(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        yield from range(info.id, 8, info.num_workers) if info else range(8)


def main():
    numbers = sorted(int(number) for number in DataLoader(Numbers(), num_workers=2))
    if numbers != list(range(8)):
        raise SystemExit(f"{numbers} instead of each number once")


if __name__ == "__main__":
    main()
