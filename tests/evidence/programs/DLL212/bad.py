# always: hangs: unable to open shared memory object </torch_...> in read-write mode: Too many open files (24)
# nofile: 1024
"""A batch of a thousand separate tensors."""

import torch
from torch.utils.data import DataLoader, Dataset


class Points(Dataset):
    def __len__(self):
        return 2048

    def __getitem__(self, i):
        return torch.rand(i % 7 + 1, 3)


def as_list(batch):
    return batch


def main():
    for batch in DataLoader(Points(), batch_size=1024, num_workers=1, collate_fn=as_list):
        print(len(batch))


if __name__ == "__main__":
    main()
