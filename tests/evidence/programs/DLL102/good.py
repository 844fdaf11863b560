# simulates: CUDA
"""The collate function leaves batches on the CPU."""

import torch
from torch.utils.data import DataLoader


def collate(rows):
    return torch.tensor(rows)


def main():
    for batch in DataLoader([[1, 2], [3, 4]], num_workers=2, collate_fn=collate):
        print(batch)


if __name__ == "__main__":
    main()
