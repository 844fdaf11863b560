# under fork: runs
# under spawn forkserver: fails: Error: Can't ... local object
"""The collate function has no name that a worker could import."""

import torch
from torch.utils.data import DataLoader


def main():
    rows = [torch.tensor(1), torch.tensor(2)]
    for batch in DataLoader(rows, batch_size=2, num_workers=1, collate_fn=lambda batch: torch.stack(batch)):
        print(batch)


if __name__ == "__main__":
    main()
