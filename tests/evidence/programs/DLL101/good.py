# simulates: CUDA
"""Samples stay on the CPU; main would move the batches."""

import torch
from torch.utils.data import DataLoader, Dataset


class Waves(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        return torch.sin(torch.linspace(0, 6.28, 64) + i)


def main():
    for wave in DataLoader(Waves(), batch_size=4, num_workers=2):
        print(wave.mean())


if __name__ == "__main__":
    main()
