# always: fails: AssertionError: _SingleProcessDataLoaderIter requires timeout == 0 | assert self._timeout == 0
"""Nobody can be waited for."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def main(workers=0):
    data = TensorDataset(torch.arange(8))
    for batch in DataLoader(data, num_workers=0, timeout=60):
        print(batch)


if __name__ == "__main__":
    main()
