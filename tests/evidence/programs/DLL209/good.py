"""A worker computes with one thread."""

import torch
from torch.utils.data import DataLoader, Dataset


class Products(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return (torch.full((500, 500), float(i)) @ torch.ones(500, 500)).mean()


def use_one_thread(worker_id):
    torch.set_num_threads(1)


def main():
    print((torch.ones(1000, 1000) @ torch.ones(1000, 1000)).sum())
    for product in DataLoader(Products(), num_workers=1, worker_init_fn=use_one_thread):
        print(product)


if __name__ == "__main__":
    main()
