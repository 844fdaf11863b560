# under fork: fails: RuntimeError: Cannot re-initialize CUDA in forked subprocess
# simulates: CUDA
"""The dataset puts each sample on the GPU."""

import torch
from torch.utils.data import DataLoader, Dataset


class Waves(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        return torch.sin(torch.linspace(0, 6.28, 64) + i).to("cuda")


def main():
    for wave in DataLoader(Waves(), batch_size=4, num_workers=2):
        print(wave.mean())


if __name__ == "__main__":
    main()
