import torch
from torch.utils.data import DataLoader, Dataset


def d(f):
    return d(f)

@d
class A(Dataset):

    @d
    def __getitem__(self, i):
        return d(self)
DataLoader(A(), num_workers=2)
