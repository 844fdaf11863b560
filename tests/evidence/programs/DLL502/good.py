"""A worker imports the collate function."""

import torch
from torch.utils.data import DataLoader


def main():
    rows = [torch.tensor(1), torch.tensor(2)]
    for batch in DataLoader(rows, batch_size=2, num_workers=1, collate_fn=torch.stack):
        print(batch)


if __name__ == "__main__":
    main()
