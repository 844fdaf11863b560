# always: fails: RuntimeError: context has already been set ... exited unexpectedly
"""Each spawned worker imports the line that sets the method."""

import torch
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, TensorDataset

mp.set_start_method("spawn")


def main():
    for batch in DataLoader(TensorDataset(torch.arange(4)), num_workers=1):
        print(batch)


if __name__ == "__main__":
    main()
