# under fork: fails: RuntimeError: Cannot re-initialize CUDA in forked subprocess
# simulates: CUDA
"""Batches go to a device that is the GPU where there is one."""

import torch
from torch.utils.data import DataLoader

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def collate(rows):
    return torch.tensor(rows).to(device)


def main():
    for batch in DataLoader([[1, 2], [3, 4]], num_workers=2, collate_fn=collate):
        print(batch)


if __name__ == "__main__":
    main()
