# under fork spawn: fails: AssertionError: daemonic processes are not allowed to have children
"""Each process of a pool starts the workers of a loader."""

from multiprocessing import Pool

from torch.utils.data import DataLoader


def total(first):
    return sum(int(number) for number in DataLoader(list(range(first, first + 4)), num_workers=1))


def main():
    with Pool(1) as pool:
        print(pool.map(total, [0, 4]))


if __name__ == "__main__":
    main()
