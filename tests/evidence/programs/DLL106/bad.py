# under fork spawn forkserver: fails: AssertionError: daemonic processes are not allowed to have children
"""A pool of processes within a worker."""

from multiprocessing import Pool

from torch.utils.data import DataLoader, Dataset


class Patches(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        with Pool(2) as pool:
            return pool.map(abs, [i, -i])


def main():
    for patch in DataLoader(Patches(), num_workers=1):
        print(patch)


if __name__ == "__main__":
    main()
