# under fork: hangs
# under spawn forkserver: fails: TypeError: cannot pickle '_
"""A pool of threads that the dataset has used before its workers start."""

from concurrent.futures import ThreadPoolExecutor

from torch.utils.data import DataLoader, Dataset


class Pages(Dataset):
    def __init__(self):
        self.pool = ThreadPoolExecutor(1)
        self.total = self.pool.submit(len, "pages").result()

    def __len__(self):
        return self.total

    def __getitem__(self, i):
        return self.pool.submit(abs, -i).result()


def main():
    for page in DataLoader(Pages(), num_workers=1):
        print(page)


if __name__ == "__main__":
    main()
