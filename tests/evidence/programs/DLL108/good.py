# simulates: CUDA
"""Workers load it to the CPU."""

from unittest.mock import patch

import torch
from torch.utils.data import DataLoader, Dataset


class Vectors(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return torch.load(f"{i}.pt", map_location="cpu")


def save_from_gpu(vector, path):
    """Write the file that `torch.save` writes for a tensor on the GPU."""
    with patch("torch.serialization.location_tag", return_value="cuda:0"):
        torch.save(vector, path)


def main():
    for i in range(4):
        save_from_gpu(torch.full((3,), i), f"{i}.pt")
    for vector in DataLoader(Vectors(), num_workers=2):
        print(vector)


if __name__ == "__main__":
    main()
