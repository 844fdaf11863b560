# under fork: runs
# under spawn forkserver: fails: RuntimeError: An attempt has been made to start a new process before the current process has finished its bootstrapping phase
"""The loop stands at module level, and each new worker comes by."""

import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.arange(8)), batch_size=4, num_workers=1)
for batch in loader:
    print(batch)
