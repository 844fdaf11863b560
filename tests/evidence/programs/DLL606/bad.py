# always: fails: samples in three epochs: [8, 0, 0]
"""A sampler that can be passed once."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    loader = DataLoader(TensorDataset(torch.arange(8)), sampler=(7 - i for i in range(8)), num_workers=1)
    totals = [sum(len(x) for (x,) in loader) for _ in range(3)]
    if totals != [8, 8, 8]:
        raise SystemExit(f"samples in three epochs: {totals}")


if __name__ == "__main__":
    main()
