# under fork: hangs
# under forkserver: runs
"""Forked workers compute with threads that only main has."""

import torch
from torch.utils.data import DataLoader, Dataset


class Products(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return (torch.full((500, 500), float(i)) @ torch.ones(500, 500)).mean()


def use_two_threads(worker_id):
    torch.set_num_threads(2)


def main():
    print((torch.ones(1000, 1000) @ torch.ones(1000, 1000)).sum())
    for product in DataLoader(Products(), num_workers=1, worker_init_fn=use_two_threads):
        print(product)


if __name__ == "__main__":
    main()
