"""A DataPipe with a sharding_filter."""

from torch.utils.data import DataLoader
from torch.utils.data.datapipes.iter import IterableWrapper


def main():
    pipe = IterableWrapper(range(8)).shuffle().sharding_filter()
    numbers = sorted(int(number) for number in DataLoader(pipe, num_workers=2))
    if numbers != list(range(8)):
        raise SystemExit(f"{numbers} instead of each number once")


if __name__ == "__main__":
    main()
