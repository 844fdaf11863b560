"""Each worker makes its own pool, on first use."""

from concurrent.futures import ThreadPoolExecutor

from torch.utils.data import DataLoader, Dataset


class Pages(Dataset):
    def __init__(self):
        self.total = len("pages")
        self.pool = None

    def __len__(self):
        return self.total

    def __getitem__(self, i):
        if self.pool is None:
            self.pool = ThreadPoolExecutor(1)
        return self.pool.submit(abs, -i).result()


def main():
    for page in DataLoader(Pages(), num_workers=1):
        print(page)


if __name__ == "__main__":
    main()
