"""Loaders in a pool do without workers."""

from multiprocessing import Pool

from torch.utils.data import DataLoader


def total(first):
    return sum(int(number) for number in DataLoader(list(range(first, first + 4)), num_workers=0))


def main():
    with Pool(1) as pool:
        print(pool.map(total, [0, 4]))


if __name__ == "__main__":
    main()
