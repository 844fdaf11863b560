"""Only the script itself runs the loop."""

import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.arange(8)), batch_size=4, num_workers=1)

if __name__ == "__main__":
    for batch in loader:
        print(batch)
